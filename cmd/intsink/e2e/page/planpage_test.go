package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/plan"
)

// parsed is what a test asks of a page: the text of the cells of its tables, and its SVGs.
type parsed struct {
	tables map[string][][]string // by id
	charts map[string]*html.Node // by event
	names  map[string]int        // elements, by name
	links  []string              // attributes that name something to load
}

func parsePage(t *testing.T, page string) *parsed {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	p := &parsed{map[string][][]string{}, map[string]*html.Node{}, map[string]int{}, nil}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		p.names[n.Data]++
		for _, a := range n.Attr {
			switch {
			case n.Data == "table" && a.Key == "id":
				p.tables[a.Val] = rowsOf(n)
			case n.Data == "figure" && a.Key == "data-event":
				p.charts[a.Val] = n
			case a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on"):
				p.links = append(p.links, a.Val)
			}
		}
	}
	return p
}

func rowsOf(table *html.Node) (rows [][]string) {
	for n := range table.Descendants() {
		switch n.Data {
		case "tr":
			rows = append(rows, nil)
		case "td", "th":
			if n.Type == html.ElementNode {
				rows[len(rows)-1] = append(rows[len(rows)-1], textOf(n))
			}
		}
	}
	return rows
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// number is a cell of a table, by the row's first cell and the column's head.
func (p *parsed) number(t *testing.T, table, row, column string) uint64 {
	t.Helper()
	rows := p.tables[table]
	for i := range rows {
		if rows[i][0] != row {
			continue
		}
		for c, head := range rows[0] {
			if head == column {
				n, err := strconv.ParseUint(rows[i][c], 10, 64)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", table, row, column, err)
				}
				return n
			}
		}
	}
	t.Errorf("%s has no row %q with a column %q: %q", table, row, column, rows)
	return 0
}

// TestPlanPage: the page of --html has the numbers of --format json and they add up, in
// its tables as in its pictures; names come out as they are, nothing is loaded, and Chromium
// shows it without a complaint, light and dark.
func TestPlanPage(t *testing.T) {
	dir := t.TempDir()
	in, path := filepath.Join(dir, "in <i>.pcap"), filepath.Join(dir, "plan.html")
	if _, stderr, code := sinktest.Run(t, "gen", "--out", in, "--count", "60000", "--flows", "400", "--pps", "4000", "--latency-step-every", "200", "--path-change-every", "700"); code != 0 {
		t.Fatal(stderr)
	}
	events := `events = ["new_flow", "path_change", "hop_latency", "refresh"]`
	text := strings.Replace(sinktest.Offline("udp_port = 5000"), "sample = 100", events, 1) + "events {\n  hop_latency { absolute = \"20us\" }\n  refresh { every = \"1s\" }\n}\n"
	old := sinktest.Write(t, filepath.Join(dir, "old & 'b'.hcl"), strings.Replace(text, `"1s"`, `"2s"`, 1))
	conf := sinktest.Write(t, filepath.Join(dir, `new "<script>alert(1)<script>".hcl`), strings.Replace(text, `"primary"`, `"noc @#1"`, 1))
	stdout, stderr, code := sinktest.Run(t, "plan", "--config", conf, "--against", old, "--in", in, "--html", path, "--format", "json")
	var want plan.Result
	if err := json.Unmarshal([]byte(stdout), &want); err != nil || code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %v: %s %s", code, err, stdout, stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := parsePage(t, string(page))
	checkEvents(t, p, &want)
	if b := p.number(t, "collectors", "noc @#1", "bits"); b != want.Collectors[0].Bits.Total || b != p.number(t, "collectors", "sum", "bits") {
		t.Errorf("%d bits, want %d", b, want.Collectors[0].Bits.Total)
	}
	if b := p.number(t, "collectors", "primary", "bits before"); b != want.Against.Collectors[0].Bits.Total || b != p.number(t, "collectors", "sum", "bits before") {
		t.Errorf("%d bits before, want %d", b, want.Against.Collectors[0].Bits.Total)
	}
	if p.names["script"]+p.names["i"]+p.names["img"] > 0 || len(p.links) != 1 || p.links[0] != "data:," {
		t.Errorf("elements %v, links %q", p.names, p.links)
	}

	b := openPage(t, "file://"+dir, "/plan.html")
	for _, scheme := range []string{"dark", "light"} {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
			t.Fatal(err)
		}
		back := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]
		b.wait(fmt.Sprintf("getComputedStyle(document.body).backgroundColor === %q", back))
		b.wait(fmt.Sprintf("document.body.innerText.includes(%q) && document.body.innerText.includes(%q)", filepath.Base(conf), filepath.Base(old)))
		b.wait(`[...document.querySelectorAll('svg .now')].length === 5 && [...document.querySelectorAll('svg .now')].every(p => p.getBBox().height > 90)`)
	}
	b.wait(`document.querySelector('figure[data-event=refresh] .was').getBBox().height > 10`)
	planPicture(t, b, dir, text, old, in)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		t.Error(f)
	}
}

// planPicture keeps a screenshot, of names that people would give, where it is asked for.
func planPicture(t *testing.T, b *browser, dir, text, old, in string) {
	if screenshots == "" {
		return
	}
	t.Chdir(dir)
	sinktest.Write(t, "new.hcl", text)
	os.Rename(old, "old.hcl")
	os.Rename(in, "trace.pcap")
	if _, stderr, code := sinktest.Run(t, "plan", "--config", "new.hcl", "--against", "old.hcl", "--in", "trace.pcap", "--html", "plan.html"); code != 0 {
		t.Fatal(stderr)
	}
	b.do(chromedp.Navigate("file://" + dir + "/plan.html"))
	b.picture("plan")
}

// checkEvents holds the table of events, the pictures and their numbers against the plan.
func checkEvents(t *testing.T, p *parsed, want *plan.Result) {
	t.Helper()
	var fired, reports, before uint64
	for i, e := range want.Events {
		was := want.Against.Event(e.Event)
		fired, reports, before = fired+e.Fired.Total, reports+e.Reports.Total, before+was.Reports.Total
		for column, n := range map[string]uint64{"events": e.Fired.Total, "reports": e.Reports.Total, "peak /s": e.Reports.Peak, "reports before": was.Reports.Total} {
			if got := p.number(t, "events", e.Event, column); got != n {
				t.Errorf("%s, %s: %d, want %d", e.Event, column, got, n)
			}
		}
		if e.Reports.Total == 0 {
			continue
		}
		var now, old uint64
		values := p.tables["values"]
		for _, row := range values[1 : len(values)-1] {
			now += p.number(t, "values", row[0], e.Event)
		}
		chart := p.charts[e.Event]
		if chart == nil || now != e.Reports.Total || now != p.number(t, "values", "sum", e.Event) {
			t.Errorf("%s (%d): the numbers of the picture add up to %d, want %d", e.Event, i, now, e.Reports.Total)
			continue
		}
		now = 0
		for n := range chart.Descendants() { // the numbers that the pointer finds
			if n.Data == "title" && n.Type == html.ElementNode {
				var x, y uint64
				_, counts, _ := strings.Cut(textOf(n), ": ")
				if _, err := fmt.Sscanf(counts, "%d, was %d", &x, &y); err != nil {
					t.Errorf("%q: %v", textOf(n), err)
				}
				now, old = now+x, old+y
			}
		}
		if now != e.Reports.Total || old != was.Reports.Total {
			t.Errorf("%s: the picture has %d reports, was %d; want %d and %d", e.Event, now, old, e.Reports.Total, was.Reports.Total)
		}
	}
	for column, n := range map[string]uint64{"events": fired, "reports": reports, "reports before": before} {
		if got := p.number(t, "events", "sum", column); got != n || n == 0 {
			t.Errorf("%s: a sum of %d, want %d", column, got, n)
		}
	}
}

// TestPlanPageOfLittle: without a packet, without a comparison, into a folder that is not
// there, over what is read.
func TestPlanPageOfLittle(t *testing.T) {
	dir := t.TempDir()
	conf := sinktest.Write(t, filepath.Join(dir, "c.hcl"), sinktest.Offline("udp_port = 5000"))
	empty := sinktest.Classic(t, filepath.Join(dir, "empty.pcap"), 65535, nil)
	some := sinktest.Classic(t, filepath.Join(dir, "some.pcap"), 65535, []int64{0, 1}, sinktest.IntFrame(t, 1), sinktest.IntFrame(t, 2))
	path := filepath.Join(dir, "plan.html")
	for _, c := range []struct {
		name, in, html string
		code           int
		want           string // in the page, or on stderr
	}{
		{"no packet", empty, path, 0, "Nothing is reported."},
		{"no comparison", some, path, 0, "<b>new_flow</b>2 reports</figcaption>"},
		{"no folder", some, filepath.Join(dir, "none", "plan.html"), 1, "no such file or directory"},
		{"to standard output", some, "-", 2, "--html -: standard output has the tables: name a file"},
		{"over the capture", some, some, 2, "--in and --html are the same file"},
		{"over the configuration", some, conf, 2, "--config and --html are the same file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got, code := sinktest.Run(t, "plan", "--config", conf, "--in", c.in, "--html", c.html)
			if c.code == 0 {
				page, _ := os.ReadFile(c.html)
				got = string(page)
			}
			if code != c.code || !strings.Contains(got, c.want) || c.code == 0 && strings.Contains(got, "before") {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, c.code, c.want, got)
			}
		})
	}
}
