package installed_test

import (
	"runtime"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestCompletion: a shell completes commands, the values of flags, and files that are configurations.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"chec"}, "check\tValidate a configuration\n:4\n"},
		{[]string{"decode", "--format", ""}, "json\ntext\nrecord\n:4\n"},
		{[]string{"check", "--config", ""}, "hcl\n:8\n"}, // files with that ending
	} {
		if got, _, code := sinktest.Run(t, append([]string{"__complete"}, c.args...)...); got != c.want || code != 0 {
			t.Errorf("%q: %q, exit code %d, want %q", c.args, got, code, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	want := "intsink devel (" + runtime.Version() + ", linux/" + runtime.GOARCH + ")\n"
	if got, stderr, code := sinktest.Run(t, "version"); got != want || stderr != "" || code != 0 {
		t.Errorf("%q, exit code %d, %s, want %q", got, code, stderr, want)
	}
}
