package flowapi

import (
	"reflect"
	"testing"

	"intsink/engine/event"
)

// TestEveryThresholdIsShown: each threshold of a watch changes the answer.
func TestEveryThresholdIsShown(t *testing.T) {
	p := &event.Policy{Events: 1<<event.NumEvents - 1}
	before := newThresholdsItem(p)
	var each func(v reflect.Value, path string)
	each = func(v reflect.Value, path string) {
		switch {
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				each(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
			return
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.CanFloat():
			v.SetFloat(0.5)
		case v.CanInt():
			v.SetInt(1_000_000)
		default:
			v.SetUint(1_000_000)
		}
		if reflect.DeepEqual(newThresholdsItem(p), before) {
			t.Errorf("the answer is the same whatever %s is", path)
		}
		v.SetZero()
	}
	each(reflect.ValueOf(&p.Thresholds).Elem(), "Thresholds")
}
