package installed_test

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
)

// step is a command of a page as it is typed, and what the page shows that it prints.
type step struct {
	line    int
	command string
	prints  []string
}

// stepsOf are those of the blocks of a page that have a prompt, by the section that they stand in.
func stepsOf(page string) (sections []string, steps map[string][]step) {
	steps = map[string][]step{}
	section, open, inside, typed := "", false, false, false
	for i, line := range strings.Split(page, "\n") {
		m := prompt.FindStringSubmatch(line)
		switch all := steps[section]; {
		case strings.HasPrefix(line, "```"):
			open, typed = !open, false
			inside = open && line == "```"
		case open && !inside:
		case !inside:
			if title, ok := strings.CutPrefix(line, "#"); ok {
				section = strings.TrimLeft(title, "# ")
				sections = append(sections, section)
			}
		case typed && strings.HasSuffix(all[len(all)-1].command, `\`): // it goes on here
			all[len(all)-1].command = strings.TrimSuffix(all[len(all)-1].command, `\`) + line
		case m != nil:
			typed = true
			steps[section] = append(all, step{line: i + 1, command: m[1]})
		case typed:
			all[len(all)-1].prints = append(all[len(all)-1].prints, line)
		}
	}
	return sections, steps
}

// What differs between two machines: times, and numbers.
var (
	moments   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`)
	durations = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?s\b`)
	numbers   = regexp.MustCompile(`[-+]?\d[\d.,]*[kM%]*|(^|\s)=(\s|$)`)
	spaces    = regexp.MustCompile(`[ \t]+`)
)

// shape is what is the same of a line wherever it is printed.
func shape(line string) string {
	line = moments.ReplaceAllString(line, "TIME")
	line = durations.ReplaceAllString(line, "DURATION")
	line = numbers.ReplaceAllString(line, " N ")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// differs says how what a command printed differs from what the page shows, where "..." is left
// out; "": by times and numbers alone.
func differs(printed string, shown []string) string {
	pattern := "^"
	for _, line := range shown {
		if line == "..." {
			pattern += `(?s:.*\n)?`
			continue
		}
		pattern += regexp.QuoteMeta(shape(line)) + `\n`
	}
	var lines strings.Builder
	for line := range strings.Lines(printed) {
		if !strings.HasPrefix(line, "Running as user") { // tshark, to root
			lines.WriteString(shape(line) + "\n")
		}
	}
	if regexp.MustCompile(pattern + "$").MatchString(lines.String()) {
		return ""
	}
	return fmt.Sprintf("it prints\n%sthe page shows\n%s", printed, strings.Join(shown, "\n"))
}

// installed is a sink as the package has it: its configuration in /etc/intsink, its socket in
// /run/intsink, intsink in the path; and a shell in a folder of its own.
type installed struct {
	t   *testing.T
	pid int // whose mounts have all of that
	dir string
}

func install(t *testing.T, config string) installed {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"etc", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Write(t, filepath.Join(dir, "bin", "intsink"), "#!/bin/sh\nINTSINK_TEST_MAIN=1 exec "+os.Args[0]+` "$@"`+"\n")
	os.Chmod(filepath.Join(dir, "bin", "intsink"), 0o755)
	sinktest.Write(t, filepath.Join(dir, "c.hcl"), config)
	pid := sinktest.Machine(t, 0, fmt.Sprintf(`cd %s
mount -t tmpfs etc etc; cp -a /etc/. etc; mount --bind etc /etc
mount -t tmpfs run /run
mkdir -p /etc/intsink /run/intsink; cp c.hcl /etc/intsink/intsink.hcl`, dir))
	return installed{t, pid, dir}
}

// shell is a command line there.
func (i installed) shell(line string) *exec.Cmd {
	cmd := exec.Command("nsenter", "-t", fmt.Sprint(i.pid), "-m", "--wd="+i.dir, "bash", "-c", "set -o pipefail; "+line)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(i.dir, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

// typed types a command of a page, and tells what is otherwise than the page shows.
func (i installed) typed(s step) (wrong []string) {
	out, err := i.shell(s.command).CombinedOutput()
	fails := len(s.prints) > 0 && strings.HasPrefix(s.prints[len(s.prints)-1], "intsink: ")
	if (err != nil) != fails && !strings.HasPrefix(s.command, "intsink doctor") { // whose findings are up to the machine
		wrong = append(wrong, fmt.Sprintf("%d: %s: %v\n%s", s.line, s.command, err, out))
	}
	if len(s.prints) > 0 {
		if text := differs(string(out), s.prints); text != "" {
			wrong = append(wrong, fmt.Sprintf("%d: %s: %s", s.line, s.command, text))
		}
	}
	return wrong
}

// edit changes a file there by sed.
func (i installed) edit(sed string) func() {
	return func() {
		i.t.Helper()
		if out, err := i.shell(sed).CombinedOutput(); err != nil {
			i.t.Fatalf("%s: %v\n%s", sed, err, out)
		}
	}
}

// trickle sends a packet every few milliseconds, of so many flows in turns, until stop.
func trickle(t *testing.T, flows uint16) (stop func()) {
	in := sinktest.OpenWire(t, "a-near")
	var ended atomic.Bool
	var sending sync.WaitGroup
	sending.Go(func() {
		source := intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
		for flow := uint16(0); !ended.Load(); flow = (flow + 1) % flows {
			f := intgen.Flow{SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"), Proto: intgen.UDP, SrcPort: 1024 + flow, DstPort: 443 + flow%2*7557}
			frame, err := source.Insert(f.Frame(60, 1), []intgen.Hop{{NodeID: 101, LatencyNs: 100}, {NodeID: 102, LatencyNs: 100}})
			if err != nil {
				t.Error(err)
				return
			}
			in.Send(frame)
			time.Sleep(10 * time.Millisecond)
		}
	})
	return sync.OnceFunc(func() { ended.Store(true); sending.Wait() })
}

// alternately captures again until no two packets came in one burst: their lines stand in pairs
// then, as the page shows them.
func (i installed) alternately() {
	i.t.Helper()
	for range 50 {
		if out, err := i.shell("tshark -r sink.pcapng -T fields -e frame.interface_name 2>/dev/null").Output(); err == nil && string(out) == "network\nhost\nnetwork\nhost\n" {
			return
		}
		i.edit("intsink capture --force -w sink.pcapng --count 4 --seconds 10")()
	}
}

// operationsPages are for who installs, runs, changes and mends a sink.
var operationsPages = []string{"install.md", "run.md", "change.md", "trouble.md"}

// captures types each `intsink capture` of a table of the page, for a moment, and says how many there are.
func (i installed) captures(page string) (typed int) {
	for _, row := range regexp.MustCompile("(?m)^\\| [^|]* \\| `intsink (capture .*)` \\|$").FindAllStringSubmatch(page, -1) {
		command := "intsink " + strings.ReplaceAll(row[1], `\|`, "|")
		if !strings.Contains(command, " --before ") { // packets that are there take no time
			command = strings.Replace(command, "capture ", "capture --seconds 0.3 ", 1)
		}
		if out, err := i.shell(command).CombinedOutput(); err != nil {
			i.t.Errorf("%s: %v\n%s", command, err, out)
		}
		typed++
	}
	return typed
}

// TestOperationsPage: each command of four pages of docs/ that has a prompt, as it stands there, on
// a sink that forwards traffic between veth pairs; it prints what the page shows, but for times and
// numbers. Not those of an upgrade, which replace the program: `make fresh` types these.
func TestOperationsPage(t *testing.T) {
	if !netns.In(t) {
		return
	}
	text := strings.Replace(sinktest.Mitigated(sinktest.InLine(t)), `http { listen = "%s" }`+"\n", "", 1)
	text = strings.Replace(text, "mbufs      = 4096", "mbufs      = 65536", 1)
	text = strings.Replace(text, `watch "all"`, "watch \"web\" {\n  match { destination_port = [444] }\n}\nwatch \"all\"", 1)
	machine := install(t, text)
	r := sinktest.StartCommand(t, machine.shell("RUNTIME_DIRECTORY=/run/intsink exec intsink run --config /etc/intsink/intsink.hcl"))
	r.HTTP = "127.0.0.1:9465"
	r.Ready(t)
	defer trickle(t, 50000)() // each is new
	const file = "/etc/intsink/intsink.hcl"
	before := map[string]func(){ // a command, by its section and number: what the reader has done
		"Reload 1":                     machine.edit("sed -i 's/sample = 100/sample = 50/' " + file),
		"Reload 3":                     machine.edit("sed -i 's/mbufs      = 65536/mbufs      = 131072/' " + file),
		"Reload 4":                     machine.edit("sed -i 's/mbufs      = 131072/mbufs      = 65536/' " + file + "; sed 's/sample = 50/sample = 25/' " + file + " > new.hcl"),
		"Verify on your own traffic 1": machine.edit("intsink gen --out int.pcap --original traffic.pcap --count 20"),
		"See a packet 2":               machine.alternately,
		// A sample, which comes at random, would be one more event of the packet that is shown.
		"See a packet 1": machine.edit("rm -f sink.pcapng; sed -i 's/sample = [0-9]*/sample = 1000000000/' " + file + "; intsink reload; intsink mode full"),
		"Tuning thresholds 1": machine.edit("intsink gen --out trace.pcap --count 20000 --flows 200 --pps 10000; sed -i 's/sample = [0-9]*/sample = 10/' " + file +
			`; sed 's/{ sample = 10 }/{\n  sample = 100\n  events_override {\n    new_flow { rate = 25 }\n  }\n}/' ` + file + " > new.hcl"),
	}
	tried := 0
	for _, name := range operationsPages {
		page, err := os.ReadFile("../../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sections, steps := stepsOf(string(page))
		for _, section := range sections {
			if section == "Upgrade" || section == "By the package manager" {
				continue
			}
			var wrong []string
			for range 5 {
				wrong = wrong[:0]
				for i, s := range steps[section] {
					if do := before[fmt.Sprint(section, " ", i+1)]; do != nil {
						do()
					}
					r.Ready(t)
					tried++
					wrong = append(wrong, machine.typed(s)...)
				}
				if section != "On trial" || len(wrong) == 0 { // which beside other load may exceed its limit: it has come back then
					break
				}
			}
			for _, text := range wrong {
				t.Errorf("%s:%s", name, text)
			}
		}
		tried += machine.captures(string(page))
	}
	if tried < 25 {
		t.Errorf("%d commands: too few to be all", tried)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
