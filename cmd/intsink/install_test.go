package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestInstall: make install puts everything below DESTDIR, the programs where the units look for
// them, and leaves a configuration that somebody wrote.
func TestInstall(t *testing.T) {
	programs, root := t.TempDir(), t.TempDir()
	for _, name := range []string{"intsink", "intsink-collect"} {
		write(t, filepath.Join(programs, name), "#!/bin/sh\nINTSINK_TEST_MAIN=1 exec "+os.Args[0]+` "$@"`+"\n")
		os.Chmod(filepath.Join(programs, name), 0o755)
	}
	install := func() {
		t.Helper()
		cmd := exec.Command("../../scripts/install.sh", root)
		cmd.Env = append(os.Environ(), "PROGRAMS="+programs)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	install()
	for _, path := range []string{
		"/usr/local/bin/intsink-collect", "/usr/local/lib/sysusers.d/intsink.conf", "/usr/local/lib/systemd/system/intsink-collect.service",
		"/etc/udev/rules.d/60-intsink.rules", "/etc/sysctl.d/60-intsink.conf", "/etc/intsink/collect.hcl",
		"/usr/local/share/man/man1/intsink.1", "/usr/local/share/man/man1/intsink-reload.1",
		"/usr/local/share/bash-completion/completions/intsink", "/usr/local/share/zsh/site-functions/_intsink", "/usr/local/share/fish/vendor_completions.d/intsink-collect.fish",
		"/usr/local/share/intsink/wireshark/intsink.lua", "/usr/local/share/intsink/prometheus/rules.yml", "/usr/local/share/intsink/grafana/sink.json",
		"/usr/local/share/intsink-collect/clickhouse.sql", "/usr/local/share/doc/intsink/examples/inline.hcl",
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
	mine := write(t, root+"/etc/intsink/intsink.hcl", "# mine\n")
	install()
	if b, err := os.ReadFile(mine); err != nil || string(b) != "# mine\n" {
		t.Errorf("%q %v: the configuration was replaced", b, err)
	}
}
