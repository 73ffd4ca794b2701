// Block recorder, whole: the flight recorder.

package conf

import "intsink/conf/schema"

// Recorder sizes the flight recorder.
type Recorder struct {
	Memory int64 // bytes of each worker; 0: it is off
}

// LeastRecorder is the least memory of a recorder that is on.
const LeastRecorder = 1 << 20

func visitRecorder(v schema.Visitor, r *Recorder) {
	v.Attr("memory", schema.Size(&r.Memory, 0, 16<<30))
}

func (d checker) checkRecorder(r *Recorder) {
	if n := r.Memory; n != 0 && n < LeastRecorder {
		d.ErrorAt([]any{&r.Memory}, "recorder: memory = %q: must be 0, or %s at least", schema.SizeText(n), schema.SizeText(LeastRecorder))
	}
}
