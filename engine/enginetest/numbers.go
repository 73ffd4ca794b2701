// Numbers: visits every number of a struct, for tests that no counter is forgotten.

package enginetest

import (
	"fmt"
	"reflect"
)

// Numbers calls visit for every number in v and in what it points to, with its path: such as
// ".Links[0].Leaked".
func Numbers(v reflect.Value, visit func(path string, v reflect.Value)) { numbers(v, "", visit) }

func numbers(v reflect.Value, path string, visit func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		numbers(v.Elem(), path, visit)
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			numbers(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	default:
		if v.CanUint() || v.CanInt() {
			visit(path, v)
		}
	}
}
