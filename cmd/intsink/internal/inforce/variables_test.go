package inforce

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKnownVariable: a configuration from outside learns only what the sink's own one names.
func TestKnownVariable(t *testing.T) {
	t.Setenv("INTSINK_NODE", "7")
	t.Setenv("INTSINK_NODE_SECRET", "guess")
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(path, []byte(`node { id = "${env.INTSINK_NODE}" }`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Sink{path: path}
	for name, want := range map[string]string{"INTSINK_NODE": "7", "INTSINK_NODE_SECRET": "", "INTSINK": "", "NODE": ""} {
		if got, ok := s.Variable(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
}
