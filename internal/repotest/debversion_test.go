package repotest

import (
	"os/exec"
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
		"v1.2.0": "1.2.0", "v1.2.0-3-gabcdef0-dirty": "1.2.0+3+gabcdef0+dirty",
		"536e120": "0~git20261122070000+536e120", "cbf2b71-dirty": "0~git20261122070000+cbf2b71+dirty", "dev": "0~git20261122070000+dev",
	} {
		t.Run(name, func(t *testing.T) {
			if got := version(name, "1795330800"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	rising := []string{version("9d6e120", "1795330800"), version("cbf2b71", "1795330801"), version("1a2b3c4", "1795330802"), version("v0.1.0", "1795330700"), version("v0.1.0-1-gabcdef0", "1795330900")}
	for i := range rising[1:] {
		if out, err := exec.Command("dpkg", "--compare-versions", rising[i], "lt", rising[i+1]).CombinedOutput(); err != nil {
			t.Errorf("%s is not before %s: %v %s", rising[i], rising[i+1], err, out)
		}
	}
}
