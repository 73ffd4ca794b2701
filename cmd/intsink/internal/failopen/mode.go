// Declares the modes, their names, and the JSON of steps from one to the next.

package failopen

import (
	"fmt"
	"time"

	"intsink/cmd/intsink/internal/status"
)

// Mode says how much is done with packets; each mode does less than the one before.
type Mode uint8

const (
	Full   Mode = iota // all that is configured
	Strip              // INT is removed; no flows, events and reports
	Pass               // packets pass as they came, unparsed
	Bypass             // as Pass, and the bypass switch takes them around the sink
	NumModes
)

// String is the mode's name in commands, answers and metrics.
func (m Mode) String() string { return [...]string{"full", "strip", "pass", "bypass"}[m] }

// ParseMode returns the mode called name.
func ParseMode(name string) (Mode, error) {
	for m := range NumModes {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("there is no mode %.40q: full, strip, pass or bypass", name)
}

// State is the JSON of GET and POST /api/v1/mode.
type State = status.Mode

// Change is one step from a mode to another, as GET /api/v1/events shows it.
type Change struct {
	Time time.Time `json:"time"`
	Mode string    `json:"mode"`
	Was  string    `json:"was"`
	Why  string    `json:"why"`
}

// SwitchChange is a turn of the bypass switch, as an event of GET /api/v1/events.
type SwitchChange struct {
	Time  time.Time `json:"time"`
	State string    `json:"state"` // "inline", "bypass"
	Was   string    `json:"was"`
	Why   string    `json:"why"` // of "bypass"
}
