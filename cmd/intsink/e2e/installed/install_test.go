package installed_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestInstall: make install puts everything below DESTDIR, the programs where the units look for
// them, and leaves a configuration that somebody wrote.
func TestInstall(t *testing.T) {
	programs, root := t.TempDir(), t.TempDir()
	for _, name := range []string{"intsink", "intsink-collect"} {
		sinktest.Write(t, filepath.Join(programs, name), "#!/bin/sh\nINTSINK_TEST_MAIN=1 exec "+os.Args[0]+` "$@"`+"\n")
		os.Chmod(filepath.Join(programs, name), 0o755)
	}
	install := func() {
		t.Helper()
		cmd := exec.Command("../../../../scripts/install.sh", root)
		cmd.Env = append(os.Environ(), "PROGRAMS="+programs)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	install()
	for _, path := range []string{
		"/usr/local/bin/intsink-collect", "/usr/local/lib/sysusers.d/intsink.conf", "/usr/local/lib/systemd/system/intsink-collect.service",
		"/etc/udev/rules.d/60-intsink.rules", "/etc/sysctl.d/60-intsink.conf", "/etc/needrestart/conf.d/intsink.conf", "/etc/intsink/collect.hcl",
		"/usr/local/share/man/man1/intsink.1", "/usr/local/share/man/man1/intsink-reload.1",
		"/usr/local/share/bash-completion/completions/intsink", "/usr/local/share/zsh/site-functions/_intsink", "/usr/local/share/fish/vendor_completions.d/intsink-collect.fish",
		"/usr/local/share/intsink/wireshark/intsink.lua", "/usr/local/share/intsink/prometheus/rules.yml", "/usr/local/share/intsink/grafana/sink.json",
		"/usr/local/share/intsink-collect/clickhouse.sql", "/usr/local/share/doc/intsink/openapi.json", "/usr/local/share/doc/intsink/examples/inline.hcl",
	} {
		if info, err := os.Stat(root + path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	unit, err := os.ReadFile(root + "/usr/local/lib/systemd/system/intsink.service")
	if err != nil {
		t.Fatal(err)
	}
	started := regexp.MustCompile(`(?m)^Exec\w+=(/\S+)`).FindAllSubmatch(unit, -1)
	for _, program := range started {
		if info, err := os.Stat(root + string(program[1])); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("the unit starts %s: %v", program[1], err)
		}
	}
	if len(started) != 3 {
		t.Errorf("%d programs in the unit, want those of ExecStartPre, ExecStart and ExecReload", len(started))
	}
	out, err := exec.Command(root+"/usr/local/bin/intsink", "check", "--config", root+"/etc/intsink/intsink.hcl").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is valid") {
		t.Errorf("%v\n%s", err, out)
	}
	if info, err := os.Stat(root + "/etc/intsink/intsink.hcl"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v: hashes of tokens in it are nobody else's", info.Mode(), err)
	}
	mine := sinktest.Write(t, root+"/etc/intsink/intsink.hcl", "# mine\n")
	install()
	if b, err := os.ReadFile(mine); err != nil || string(b) != "# mine\n" {
		t.Errorf("%q %v: the configuration was replaced", b, err)
	}
}

// TestDockerfile: a numeric user, which orchestrators that refuse root can check; an entry point
// without arguments, so that any command can follow; commands that there are.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	image := string(text[bytes.LastIndex(text, []byte("\nFROM ")):])
	for _, want := range []string{`(?m)^USER [1-9]\d*$`, `(?m)^ENTRYPOINT \["intsink"\]$`, `(?m)^EXPOSE 9465$`} {
		if !regexp.MustCompile(want).MatchString(image) {
			t.Errorf("the image has no %s", want)
		}
	}
	commands := regexp.MustCompile(`(?m)^(?:HEALTHCHECK.* )?CMD (\[.*\])$`).FindAllStringSubmatch(image, -1)
	for _, c := range commands {
		var args []string
		if err := json.Unmarshal([]byte(c[1]), &args); err != nil {
			t.Fatal(err)
		}
		if args[0] == "intsink" { // that of the health check stands alone
			args = args[1:]
		}
		v := invocation{args: args, whole: true}
		if fault := v.fault(); fault != "" {
			t.Errorf("%s: %s", c[0], fault)
		}
	}
	if len(commands) != 2 {
		t.Errorf("%d commands, want those of the health check and of the image", len(commands))
	}
}

// TestSBOM: every Go module of a program and the Debian packages of its libraries, each with a
// version and a URL that scanners know it by (SPDX 2.3, package URLs).
func TestSBOM(t *testing.T) {
	program := filepath.Join(t.TempDir(), "intsink")
	if text, err := exec.Command("go", "build", "-o", program, "intsink/cmd/intsink").CombinedOutput(); err != nil { // a test's program names no modules
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.Command("../../../../scripts/sbom.sh", program)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1000000000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SPDXVersion: SPDX-2.3\n", "Created: 2001-09-09T01:46:40Z\n", "PackageName: intsink\n", "purl pkg:golang/github.com/spf13/cobra@v", "purl pkg:golang/stdlib@1.", "purl pkg:deb/debian/librte-eal2",
		"purl pkg:npm/htm@3", "purl pkg:npm/preact\n", "purl pkg:deb/debian/librte-net-null2"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it lacks %s", want)
		}
	}
	packages, versions := strings.Count(string(out), "\nPackageName: "), regexp.MustCompile(`(?m)^PackageVersion: \S+$`).FindAllString(string(out), -1)
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`(?m)^SPDXID: (SPDXRef-[a-zA-Z0-9.-]+)$`).FindAllStringSubmatch(string(out), -1) {
		ids[id[1]] = true
	}
	if packages < 15 || len(versions) != packages || len(ids) != packages+1 { // and the document
		t.Errorf("%d packages, %d versions, %d identifiers", packages, len(versions), len(ids))
	}
}
