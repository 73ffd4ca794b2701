package observe

import "intsink/cmd/intsink/internal/control"

// addControl adds which configuration is in force, what became of the last reload, and who
// tried to change something.
func (s *Source) addControl(x *exposition) {
	if s.Control == nil {
		return
	}
	last, good := s.Control.State.Last()
	ok := uint64(0)
	if last.OK {
		ok = 1
	}
	x.add("intsink_config_last_reload_successful", ok)
	x.addSeconds("intsink_config_last_reload_success_timestamp_seconds", good.Time.UnixNano())
	x.add("intsink_config_generation", good.Generation)
	x.add("intsink_config_info", 1, "sha256", good.SHA256)
	for r := range control.NumWriteResults {
		x.add("intsink_api_writes_total", s.Control.Writes.Count(r), "result", r)
	}
}
