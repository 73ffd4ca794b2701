package installed_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/internal/netns"
)

// fields are the names of a JSON value's fields, with those that they are in; [] is an array.
func fields(t *testing.T, text string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	found := map[string]bool{}
	var walk func(v any, in string)
	walk = func(v any, in string) {
		switch v := v.(type) {
		case map[string]any:
			for name, inside := range v {
				found[in+name] = true
				walk(inside, in+name+".")
			}
		case []any:
			for _, inside := range v {
				walk(inside, strings.TrimSuffix(in, ".")+"[].")
			}
		}
	}
	walk(v, "")
	return slices.Sorted(maps.Keys(found))
}

// lacks are those of want that got has not.
func lacks(got, want []string) (missing []string) {
	for _, name := range want {
		if !slices.Contains(got, name) && !strings.HasPrefix(name, "waits[]") { // few flows wait for anything
			missing = append(missing, name)
		}
	}
	return missing
}

// TestAPIPage: the requests of docs/api.md, as they stand there, to a sink that forwards traffic.
// The answers have the fields that the page shows, and no others.
func TestAPIPage(t *testing.T) {
	if !netns.In(t) {
		return
	}
	b, err := os.ReadFile("../../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	text := strings.Replace(sinktest.Mitigated(sinktest.InLine(t)), `http { listen = "%s" }`+"\n", "", 1)
	text = strings.Replace(text, "mbufs      = 4096", "mbufs      = 8192", 1)
	text = strings.Replace(text, `watch "all" { sample = 100 }`, "watch \"all\" {\n  sample = 100\n  events = [\"new_flow\", \"hop_latency\", \"end_to_end\", \"congestion\"]\n}", 1) + "events {\n  congestion { raise = 8000 }\n}\n"
	machine := install(t, text)
	r := sinktest.StartCommand(t, machine.shell("RUNTIME_DIRECTORY=/run/intsink exec intsink run --config /etc/intsink/intsink.hcl"))
	r.HTTP = "127.0.0.1:9465"
	r.Ready(t)
	defer trickle(t, 8)()
	const asked = "udp:10.0.0.1:1025-10.1.0.1:8000" // one of the test's flows, in place of those of the page
	if !sinktest.Eventually(func() bool { return strings.Contains(r.Get(t, "/api/v1/flows/"+asked), `"thresholds"`) }) {
		t.Fatalf("%s is not known", asked)
	}
	tried := 0
	typed := func(command string) string {
		t.Helper()
		tried++
		out, err := machine.shell(command).CombinedOutput()
		if err != nil || len(out) == 0 && !strings.Contains(command, " -o ") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	machine.edit("sed -i 's/sample = 100/sample = 50/' /etc/intsink/intsink.hcl")()
	sections, steps := stepsOf(page)
	for _, section := range sections {
		for _, s := range steps[section] {
			got, want := typed(s.command), strings.Join(s.prints, "\n")
			switch {
			case strings.HasPrefix(want, "{"):
				if a, b := fields(t, got), fields(t, want); !slices.Equal(a, b) {
					t.Errorf("api.md:%d: %s: the answer has not %q, the page has not %q", s.line, s.command, lacks(a, b), lacks(b, a))
				}
			case want != "" && strings.TrimSpace(got) != want:
				t.Errorf("api.md:%d: %s: it prints\n%sthe page shows\n%s", s.line, s.command, got, want)
			}
		}
	}
	flow := regexp.MustCompile(`udp:10\.0\.0\.\d:\d+-10\.1\.0\.1:8000`)
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)\n```\n```(?:json)?\n(.*?)\n```").FindAllStringSubmatch(page, -1) {
		got := typed(flow.ReplaceAllString(m[1], asked))
		if !strings.HasPrefix(m[2], "{") {
			for _, line := range strings.Split(m[2], "\n")[1:4] { // the words in front of what depends on the flow
				if word := strings.Fields(line)[0]; !regexp.MustCompile(`(?m)^\s+` + word + ` `).MatchString(got) {
					t.Errorf("%s: it lacks %q\n%s", m[1], word, got)
				}
			}
			continue
		}
		a, b := fields(t, got), fields(t, m[2])
		if missing := lacks(a, b); len(missing) > 0 {
			t.Errorf("%s: the answer has not %q", m[1], missing)
		}
		if beyond := lacks(b, a); len(beyond) > 0 && strings.Contains(m[1], "?") { // of one flow the page shows what a list has not
			t.Errorf("%s: the page has not %q", m[1], beyond)
		}
	}
	if tried < 7 {
		t.Errorf("%d requests: too few to be all", tried)
	}
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d\n%s", code, r.Stderr)
	}
}
