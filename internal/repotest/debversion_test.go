package repotest

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestDebianVersions: a release keeps its number, and a later commit is an upgrade, whatever
// its hash begins with.
func TestDebianVersions(t *testing.T) {
	version := func(name, seconds string) string {
		out, err := exec.Command("../../scripts/debversion.sh", name, seconds).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for name, want := range map[string]string{
		"1.2.0": "1.2.0", "1.2.0+abcdef01.dirty": "1.2.0+git20261122070000.abcdef01.dirty", "dev": "0+git20261122070000.dev",
	} {
		t.Run(name, func(t *testing.T) {
			if got := version(name, "1795330800"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	out, err := exec.Command("../../scripts/version.sh").Output()
	if name := strings.TrimSpace(string(out)); err != nil || !regexp.MustCompile(`^\d+\.\d+\.\d+(\+[0-9a-f]{8}(\.dirty)?)?$`).MatchString(name) {
		t.Errorf("this build is called %q, %v", name, err)
	}
	rising := []string{version("dev", "1795330800"), version("0.1.0", "1795330700"), version("0.1.0+9d6e1201", "1795330800"), version("0.1.0+1a2b3c4d", "1795330801"), version("0.2.0", "1795330700")}
	for i := range rising[1:] {
		if out, err := exec.Command("dpkg", "--compare-versions", rising[i], "lt", rising[i+1]).CombinedOutput(); err != nil {
			t.Errorf("%s is not before %s: %v %s", rising[i], rising[i+1], err, out)
		}
	}
}
