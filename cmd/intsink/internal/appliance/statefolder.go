// stateFolder: the folder of the state files is this process's alone, or it is not used.

package appliance

import (
	"os"

	"intsink/cmd/internal/degraded"
	"intsink/cmd/internal/statefile"
	"intsink/cmd/intsink/internal/upgrade"
)

// stateFolder is what systemd gives the sink for its state.
type stateFolder struct {
	dir     string
	err     error // why it is not used
	release func()
}

// claimState claims the folder, unless it is the old program's until this one has its turn.
func claimState(turn *upgrade.Turn) *stateFolder {
	s := &stateFolder{}
	if turn == nil {
		s.claim()
	}
	return s
}

// claim takes the folder. Where that cannot be, this process and what it starts have none.
func (s *stateFolder) claim() {
	s.dir = statefile.Dir(os.Getenv)
	if s.release, s.err = statefile.Claim(s.dir); s.err != nil {
		os.Unsetenv("STATE_DIRECTORY")
	}
}

// tell says where the folder is not used.
func (s *stateFolder) tell(to *degraded.Parts) *stateFolder {
	if s.err != nil {
		to.Set("state", s.dir, s.err)
	}
	return s
}

// leave lets the program have the folder that takes over.
func (s *stateFolder) leave() {
	if s != nil && s.release != nil {
		s.release()
		s.release = nil
	}
}
