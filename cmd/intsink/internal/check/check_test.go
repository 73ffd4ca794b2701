package check

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/conf"
)

const checkConfig = `
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  udp_port = 5000
  # alone: dscp is an alternative
}
watch "all" { sample = 1000 }
collector "primary" { address = "192.0.2.10:8555" }
`

// runCheck runs the command as a user does.
func runCheck(t *testing.T, config string, dump bool) (stdout, stderr string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	err = Run(&out, &errs, path, Options{Dump: dump}, func(*conf.Config) (wrong, cannot error) { return nil, nil })
	strip := func(b bytes.Buffer) string { return strings.ReplaceAll(b.String(), path, "intsink.hcl") }
	return strip(out), strip(errs), err
}

func TestCheckValid(t *testing.T) {
	stdout, stderr, err := runCheck(t, checkConfig, false)
	if err != nil || stderr != "intsink.hcl: warning: node: id is 0, as that of every sink whose file leaves it out: collectors may take two of them for one; write node { id = N }, another N for each sink\n" {
		t.Fatalf("%v, stderr %q", err, stderr)
	}
	if _, stderr, err := runCheck(t, "node { id = 7 }\n"+checkConfig, false); err != nil || stderr != "" {
		t.Errorf("%v, stderr %q", err, stderr)
	}
	for _, want := range []string{
		"intsink.hcl is valid\n",
		"links       edge: network -> host\n",
		"workers     1, lcores ",
		"INT         UDP port 5000\n",
		"watches     all: everything, 16 events, one packet in 1000 sampled\n",
		"collectors  primary: 192.0.2.10:8555\n",
		"memory      flows about 328 MiB (1 x 1048576 x 328 bytes); up to 616 MiB more when all have events (616 bytes); mbufs about 148 MiB (65536 x 2368 bytes); recorder up to 64 MiB (1 x 64 MiB)\n",
		"start-up    ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
}

func TestCheckDump(t *testing.T) {
	stdout, _, err := runCheck(t, checkConfig, true)
	if err != nil {
		t.Fatal(err)
	}
	again, d := conf.Parse("dump.hcl", []byte(stdout))
	if again == nil {
		t.Fatalf("the dump is not valid: %v", d.Err())
	}
	if string(again.Dump()) != stdout {
		t.Error("the dump of the dump is another one")
	}
}

func TestCheckInvalid(t *testing.T) {
	stdout, stderr, err := runCheck(t, strings.NewReplacer("udp_port", "udp_prot", `host    = "host"`, `host = "hots"`).Replace(checkConfig), false)
	var exit cli.ExitError
	if !errors.As(err, &exit) || exit.Code != 1 {
		t.Errorf("error %v, want exit code 1", err)
	}
	if stdout != "" {
		t.Errorf("stdout %q", stdout)
	}
	want := `intsink.hcl:6:10: error: link "edge": no port is called "hots"; did you mean "host"?
    6 |   host = "hots"
      |          ^^^^^^
intsink.hcl:9:3: error: int: unknown attribute udp_prot; did you mean udp_port?
    9 |   udp_prot = 5000
      |   ^^^^^^^^
`
	if stderr != want {
		t.Errorf("stderr:\n%s\nwant:\n%s", stderr, want)
	}
}

func TestCheckWarns(t *testing.T) {
	stdout, stderr, err := runCheck(t, strings.Replace(checkConfig, `watch "all" { sample = 1000 }`, "", 1), false)
	if err != nil || !strings.Contains(stdout, "is valid") || !strings.Contains(stdout, "watches     none") {
		t.Errorf("%v\n%s", err, stdout)
	}
	if !strings.Contains(stderr, "warning: there is no watch block") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestCheckMissingFile(t *testing.T) {
	var out, errs bytes.Buffer
	err := Run(&out, &errs, filepath.Join(t.TempDir(), "none.hcl"), Options{}, nil)
	var exit cli.ExitError
	if !errors.As(err, &exit) || exit.Code != 1 || !strings.Contains(errs.String(), "none.hcl: error: there is no such file; --config says where") ||
		!strings.Contains(err.Error(), "conf/examples/minimal.hcl is a configuration to begin with") {
		t.Errorf("%v, stderr %q", err, errs.String())
	}
}

// TestCheckOfTheMachine: what EAL would not take is an error, what this machine cannot run
// a warning.
func TestCheckOfTheMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "intsink.hcl")
	if err := os.WriteFile(path, []byte("node { id = 7 }\n"+checkConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	err := Run(&out, &errs, path, Options{}, func(*conf.Config) (wrong, cannot error) { return errors.New("no such argument"), nil })
	if err == nil || !strings.HasSuffix(err.Error(), "is not valid: no such argument") || out.Len()+errs.Len() > 0 {
		t.Errorf("%v, stdout %q, stderr %q", err, out.String(), errs.String())
	}
	err = Run(&out, &errs, path, Options{}, func(*conf.Config) (wrong, cannot error) { return nil, errors.New("too little memory") })
	if err != nil || errs.String() != path+": warning: this machine cannot run it: too little memory\n" {
		t.Errorf("%v, stderr %q", err, errs.String())
	}
}

// TestCheckReadsAFolder and the environment, and says which file a mistake is in.
func TestCheckReadsAFolder(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file("10-site.hcl", "node { id = \"${env.CONTROL_TEST_NODE}\" }\n")
	file("50-common.hcl", "port \"network\" { device = \"net_null0\" }\nport \"host\" { device = \"net_null1\" }\nlink \"edge\" {\n  network = \"network\"\n  host = \"host\"\n}\nint { udp_port = 5000 }\nwatch \"all\" {}\ncollector \"primary\" { address = \"192.0.2.10:8555\" }\n")
	run := func() (stdout, stderr string, err error) {
		var out, errs bytes.Buffer
		err = Run(&out, &errs, dir, Options{Dump: true}, func(*conf.Config) (wrong, cannot error) { return nil, nil })
		return out.String(), errs.String(), err
	}
	if _, stderr, err := run(); err == nil || !strings.Contains(stderr, dir+"/10-site.hcl:1:13: error: node: id = \"${env.CONTROL_TEST_NODE}\": the environment variable CONTROL_TEST_NODE is not set") {
		t.Errorf("%v\n%s", err, stderr)
	}
	t.Setenv("CONTROL_TEST_NODE", "77")
	if stdout, stderr, err := run(); err != nil || !strings.Contains(stdout, "= 77\n") {
		t.Errorf("%v\n%s\n%s", err, stderr, stdout)
	}
}

func TestStartUp(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "less than 0.1 s", 99 * time.Millisecond: "less than 0.1 s", 100 * time.Millisecond: "at least 0.1 s", 1260 * time.Millisecond: "at least 1.3 s"} {
		if got := startUp(d); !strings.HasPrefix(got, want+" for the flow tables") {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
