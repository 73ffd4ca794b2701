package installed_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// packageRoot is a folder that dpkg installs packages into, and what stands for the tools that
// maintainer scripts call: each writes a line of what it was called with.
type packageRoot struct {
	t    *testing.T
	root string
	log  string // of the tools
}

func newPackageRoot(t *testing.T) *packageRoot {
	p := &packageRoot{t: t, root: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	netns.Sh(t, "cd "+p.root+"; mkdir -p var/lib/dpkg/info var/lib/dpkg/updates run/systemd/system run/udev etc/systemd/system tools; touch var/lib/dpkg/status var/lib/dpkg/available")
	rule := p.root + "/usr/lib/udev/rules.d/60-intsink.rules"
	for name, more := range map[string]string{
		"systemd-sysusers": "touch " + p.root + "/group",
		// As udevd reads it: only where it is newer than when it was read, with the groups of then.
		"udevadm":            fmt.Sprintf("if [ -e %s/group ] && [ %s -nt %s/read ]; then echo the rule is in force >>%s; fi", p.root, rule, p.root, p.log),
		"systemctl":          fmt.Sprintf(`case "$*" in *is-active*) [ -e %s/active ];; *MainPID*) cat %s/active;; esac`, p.root, p.root),
		"deb-systemd-invoke": "",
	} {
		path := filepath.Join(p.root, "tools", name)
		sinktest.Write(t, path, "#!/bin/sh\necho "+name+` "$@" >>`+p.log+"\n"+more+"\n")
		os.Chmod(path, 0o755)
	}
	return p
}

// build makes a package of the maintainer scripts as scripts/deb.sh does, with a program that is
// only its version, and takes each configuration, unless the folder has a file refuses with a line for its version.
func (p *packageRoot) build(name, version string) string {
	p.t.Helper()
	dir, out := p.t.TempDir(), filepath.Join(p.t.TempDir(), name+".deb")
	netns.Sh(p.t, fmt.Sprintf("mkdir -p %[1]s/DEBIAN %[1]s/usr/bin %[1]s/usr/lib/udev/rules.d && install -m 755 -t %[1]s/DEBIAN ../../../../deploy/package/preinst ../../../../deploy/package/postinst ../../../../deploy/package/prerm ../../../../deploy/package/postrm && sed -i s/@NAME@/%[2]s/g %[1]s/DEBIAN/p*", dir, name))
	if name == "intsink" {
		netns.Sh(p.t, "cp ../../../../deploy/package/udev.rules "+dir+"/usr/lib/udev/rules.d/60-intsink.rules")
	}
	sinktest.Write(p.t, dir+"/DEBIAN/control", fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: for a test\n", name, version))
	sinktest.Write(p.t, dir+"/usr/bin/"+name, fmt.Sprintf("#!/bin/sh\necho %s %s\ncase \"$*\" in *check*) ! grep -qsx %s %s/refuses || { echo 'line 1: no such block' >&2; exit 2; };; esac\n", name, version, version, p.root))
	os.Chmod(dir+"/usr/bin/"+name, 0o755)
	netns.Sh(p.t, "dpkg-deb --root-owner-group -Znone --build "+dir+" "+out)
	return out
}

// dpkg returns what dpkg and the scripts print, and what tools they called.
func (p *packageRoot) dpkg(args ...string) (printed, called string) {
	p.t.Helper()
	os.Remove(p.log)
	cmd := exec.Command("dpkg", append([]string{"--root=" + p.root, "--force-not-root", "--force-bad-path", "--force-script-chrootless", "--log=/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+p.root+"/tools:"+os.Getenv("PATH"), "INTSINK_TEST_MAIN=1", "LC_ALL=C", sinktest.RanAs+"="+p.root+"/ran")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	if ran, err := os.ReadFile(p.root + "/ran"); err == nil {
		p.t.Errorf("root ran what the service's process is: %s", ran)
	}
	text, _ := os.ReadFile(p.log)
	return string(out), string(text)
}

// runs makes systemctl say that the service runs. The process is that of this test, whose program tells where it is run as what
// a process is: the service's user decides what that would be.
func (p *packageRoot) runs() { sinktest.Write(p.t, p.root+"/active", fmt.Sprintln(os.Getpid())) }

// TestPackageConfiguration: that of the sink may have hashes of tokens: others do not read it, unless the admin says so.
func TestPackageConfiguration(t *testing.T) {
	p := newPackageRoot(t)
	group := `#!/bin/sh
[ "$1" = intsink ] && echo chgrp "$@" >>` + p.log + "\n"
	sinktest.Write(t, p.root+"/tools/chgrp", group)
	sinktest.Write(t, p.root+"/tools/dpkg-statoverride", "#!/bin/sh\n[ -e "+p.root+"/overridden ]\n")
	netns.Sh(t, "chmod 755 "+p.root+"/tools/*; mkdir -p "+p.root+"/etc/intsink")
	file := sinktest.Write(t, p.root+"/etc/intsink/intsink.hcl", "")
	for _, overridden := range []bool{false, true} {
		os.Chmod(file, 0o644)
		want := os.FileMode(0o640)
		if overridden {
			sinktest.Write(t, p.root+"/overridden", "")
			want = 0o644
		}
		_, called := p.dpkg("-i", p.build("intsink", "1"))
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != want || strings.Contains(called, "chgrp intsink "+file) == overridden {
			t.Errorf("%v %v, not %v; called:\n%s", info.Mode(), err, want, called)
		}
	}
}

// TestPackageConfigurationElsewhere: a link, and a folder that others may change, lead root to no other file.
func TestPackageConfigurationElsewhere(t *testing.T) {
	for name, makes := range map[string]string{
		"a link":             "mkdir etc/intsink; ln -s ../../other etc/intsink/intsink.hcl",
		"a folder of others": "mkdir etc/intsink; chmod 777 etc/intsink; cp other etc/intsink/intsink.hcl",
		"a link to a folder": "mkdir its; cp other its/intsink.hcl; ln -s ../its etc/intsink",
	} {
		p := newPackageRoot(t)
		netns.Sh(t, "cd "+p.root+"; echo 'exit 1' >tools/dpkg-statoverride; echo exit >tools/chgrp; chmod 755 tools/*; touch other; "+makes+"; chmod -R go-w etc/intsink/intsink.hcl; chmod 644 etc/intsink/intsink.hcl")
		printed, _ := p.dpkg("-i", p.build("intsink", "1"))
		info, err := os.Stat(p.root + "/etc/intsink/intsink.hcl")
		if err != nil || info.Mode().Perm() != 0o644 || !strings.Contains(printed, "its group and mode stay") {
			t.Errorf("%s: %v %v\n%s", name, info.Mode(), err, printed)
		}
	}
}

// TestPackageRule: the rule for VFIO groups is in force after the installation, though udevd read
// it before its group was there.
func TestPackageRule(t *testing.T) {
	p := newPackageRoot(t)
	deb := p.build("intsink", "1")
	p.dpkg("--unpack", deb)
	netns.Sh(t, "touch -d '1 hour ago' "+p.root+"/usr/lib/udev/rules.d/60-intsink.rules; touch -d '1 minute ago' "+p.root+"/read")
	_, called := p.dpkg("--configure", "intsink")
	sysusers, inForce := strings.Index(called, "systemd-sysusers"), strings.Index(called, "the rule is in force")
	if sysusers < 0 || inForce < sysusers || !strings.Contains(called, "udevadm trigger --subsystem-match=vfio\n") {
		t.Errorf("called:\n%s", called)
	}
	if strings.Contains(called, "start") {
		t.Errorf("the installation starts the service:\n%s", called)
	}
}

// TestPackageUpgrade: an upgrade leaves the sink running and says what runs and what is installed;
// a collector goes on with the new program.
func TestPackageUpgrade(t *testing.T) {
	p := newPackageRoot(t)
	p.dpkg("-i", p.build("intsink", "1"), p.build("intsink-collect", "1"))
	again := p.build("intsink", "2")
	if printed, called := p.dpkg("-i", again); strings.Contains(printed, "running:") || strings.Contains(called, "restart") {
		t.Errorf("nothing runs:\n%s\n%s", printed, called)
	}
	p.runs()
	printed, called := p.dpkg("-i", p.build("intsink", "3"))
	for _, want := range []string{"intsink: running: the program of before (package 2, or older)\n", "intsink: installed: intsink 3; it runs after: systemctl restart intsink"} {
		if !strings.Contains(printed, want) {
			t.Errorf("it does not say %q:\n%s", want, printed)
		}
	}
	if regexp.MustCompile(`\b(re)?start|stop`).MatchString(called) {
		t.Errorf("the upgrade restarts the sink:\n%s", called)
	}
	if _, called := p.dpkg("-i", p.build("intsink-collect", "3")); !strings.Contains(called, "deb-systemd-invoke try-restart intsink-collect.service\n") {
		t.Errorf("the collector goes on with the old program:\n%s", called)
	}
	sinktest.Write(t, p.root+"/active", "0\n") // whose process is not there
	if printed, _ := p.dpkg("-i", p.build("intsink", "4")); !strings.Contains(printed, "intsink: running: the program of before (package 3, or older)\n") {
		t.Errorf("without a process:\n%s", printed)
	}
	p.runs()
	netns.Sh(t, "ln -s "+os.Args[0]+" "+p.root+"/usr/bin/intsink.next")
	if printed, _ := p.dpkg("-i", p.build("intsink", "5")); strings.Contains(printed, "running:") {
		t.Errorf("what intsink upgrade has put on trial, and installs:\n%s", printed)
	}
}

// TestPackageUpgradeRefusesTheConfiguration: where the new program does not take what the running one takes, the collector goes
// on with the old one, and of the sink it is said before anybody restarts it.
func TestPackageUpgradeRefusesTheConfiguration(t *testing.T) {
	p := newPackageRoot(t)
	p.dpkg("-i", p.build("intsink", "1"), p.build("intsink-collect", "1"))
	p.runs()
	sinktest.Write(t, p.root+"/refuses", "2\n3\n")
	netns.Sh(t, "mkdir -p "+p.root+"/etc/intsink; cp ../../../../conf/examples/minimal.hcl "+p.root+"/etc/intsink/intsink.hcl; cp ../../../../deploy/collect/collect.hcl "+p.root+"/etc/intsink/collect.hcl")
	for name, file := range map[string]string{"intsink": "intsink.hcl", "intsink-collect": "collect.hcl"} {
		printed, called := p.dpkg("-i", p.build(name, "2"))
		want := name + ": the installed program refuses /etc/intsink/" + file + ", which the one before takes; what runs goes on. Mend it, then: systemctl restart " + name + "\nline 1: no such block\n"
		if !strings.Contains(printed, want) || strings.Contains(called, "restart") {
			t.Errorf("%s\n%s", printed, called)
		}
		if printed, _ := p.dpkg("-i", p.build(name, "3")); strings.Contains(printed, "refuses") { // as where it needs the service's variables
			t.Errorf("the one before does not take it either:\n%s", printed)
		}
		if left, _ := filepath.Glob(p.root + "/run/*.took"); len(left) != 0 {
			t.Errorf("files are left: %v", left)
		}
	}
}

// TestPackagePurge: removal stops the service and keeps it enabled; purge leaves no link, says what
// stays, and touches no link of others.
func TestPackagePurge(t *testing.T) {
	for _, name := range []string{"intsink", "intsink-collect"} {
		p := newPackageRoot(t)
		p.dpkg("-i", p.build(name, "1"))
		netns.Sh(t, fmt.Sprintf("cd %[1]s/etc/systemd/system; mkdir -p multi-user.target.wants a.target.requires; ln -s /usr/lib/systemd/system/%[2]s.service multi-user.target.wants/; ln -s /x a.target.requires/%[2]s.service; ln -s /dev/null %[2]s.service; ln -s /x multi-user.target.wants/other.service; mkdir -p %[1]s/var/lib/%[2]s; touch %[1]s/usr/bin/intsink.next %[1]s/usr/bin/intsink.next.deb %[1]s/usr/bin/intsink.before", p.root, name))
		link := p.root + "/etc/systemd/system/multi-user.target.wants/" + name + ".service"
		if _, called := p.dpkg("--remove", name); !strings.Contains(called, "deb-systemd-invoke stop "+name+".service\n") {
			t.Errorf("called:\n%s", called)
		}
		if _, err := os.Lstat(link); err != nil {
			t.Errorf("removal forgets that the service was enabled: %v", err)
		}
		if beside, _ := filepath.Glob(p.root + "/usr/bin/intsink.*"); (name == "intsink") != (len(beside) == 0) {
			t.Errorf("what intsink upgrade puts beside the program, when %s goes: %v", name, beside)
		}
		printed, called := p.dpkg("--purge", name)
		left, _ := exec.Command("find", p.root+"/etc", "-type", "l").Output()
		if string(left) != p.root+"/etc/systemd/system/multi-user.target.wants/other.service\n" {
			t.Errorf("links that are left:\n%s", left)
		}
		if !strings.Contains(printed, name+": /var/lib/"+name+" stays") || !strings.Contains(called, "daemon-reload") {
			t.Errorf("%s\n%s", printed, called)
		}
	}
}

// TestNeedrestart: needrestart takes the file, and leaves the sink alone but no other service.
func TestNeedrestart(t *testing.T) {
	script := `our %nrconf = (override_rc => {qr(^dbus) => 0}); do "./../../../../deploy/package/needrestart.conf"; die $@ if $@;
		for my $rc (@ARGV) { my $v = "as it is"; for my $re (keys %{$nrconf{override_rc}}) { $v = $nrconf{override_rc}{$re} if $rc =~ /$re/; } print "$rc $v\n"; }`
	out, err := exec.Command("perl", "-we", script, "intsink.service", "intsink-collect.service", "my-intsink.service", "dbus.service").CombinedOutput()
	if want := "intsink.service 0\nintsink-collect.service as it is\nmy-intsink.service as it is\ndbus.service 0\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s, want\n%s", err, out, want)
	}
}

// TestOldFilesGo: what nothing was written to for long goes from the collector's folder; links there lead nowhere, and what they
// lead to stays.
func TestOldFilesGo(t *testing.T) {
	program, err := exec.LookPath("systemd-tmpfiles") // scripts/deps.sh installs it
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../../deploy/tmpfiles/intsink-collect.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir, other := t.TempDir(), t.TempDir()
	logs, conf := filepath.Join(dir, "logs"), filepath.Join(dir, "x.conf")
	precious, old := filepath.Join(other, "precious"), time.Now().Add(-15*24*time.Hour)
	if err := errors.Join(os.Mkdir(logs, 0o750), os.WriteFile(precious, nil, 0o600), os.WriteFile(filepath.Join(logs, "old"), nil, 0o600), os.WriteFile(filepath.Join(logs, "new"), nil, 0o600),
		os.Symlink(other, filepath.Join(logs, "folder")), os.Symlink(precious, filepath.Join(logs, "file")), os.Chtimes(precious, old, old), os.Chtimes(filepath.Join(logs, "old"), old, old),
		os.Chown(logs, 65534, 65534), os.WriteFile(conf, bytes.ReplaceAll(text, []byte("/var/log/private/intsink"), []byte(logs)), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "--clean", conf).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	is := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	info, err := os.Stat(logs)
	if err != nil || is(filepath.Join(logs, "old")) || !is(filepath.Join(logs, "new")) || !is(precious) || info.Sys().(*syscall.Stat_t).Uid != 65534 || info.Mode().Perm() != 0o750 {
		left, _ := os.ReadDir(logs)
		t.Errorf("left: %v, precious %v, %v", left, is(precious), err)
	}
}
