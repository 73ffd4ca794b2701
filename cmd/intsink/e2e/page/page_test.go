package page_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/deploy/playground/scene"
	"intsink/internal/netns"
)

// screenshots is the folder that pictures of the page are written to, "" for none:
//
//	INTSINK_SCREENSHOTS=$PWD/docs/images go test ./cmd/intsink/e2e/page -run Page
var screenshots = os.Getenv("INTSINK_SCREENSHOTS")

// browser is a page in Chromium, and what went wrong in it.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu     sync.Mutex
	faults []string
}

// openBrowser opens the page of the sink at base.
func openBrowser(t *testing.T, base string) *browser { return openPage(t, base, "/ui/") }

// openPage opens a page below base. Requests to anywhere else, exceptions and lines on the
// console are faults.
func openPage(t *testing.T, base, path string) *browser {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Env("TZ=Asia/Tokyo"), chromedp.WindowSize(1300, 900), chromedp.WSURLReadTimeout(sinktest.Patience))
	ctx, cancelAll := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancelAll)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, 30*time.Minute)
	t.Cleanup(cancelTime)
	b := &browser{t: t, ctx: ctx, base: base}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
				b.faults = append(b.faults, "request to "+e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			b.faults = append(b.faults, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			b.faults = append(b.faults, fmt.Sprintf("console %s: %v", e.Type, e.Args))
		case *log.EventEntryAdded:
			if strings.Contains(e.Entry.Text, "status of 503") { // a worker that waits for its CPU: the page asks again
				return
			}
			b.faults = append(b.faults, fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(base + path))
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// js runs a script whose value does not matter.
func (b *browser) js(script string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("(() => { "+script+"; return true; })()")); err != nil {
		b.t.Fatal(err)
	}
}

// view opens a view and waits until the expression is true.
func (b *browser) view(name, until string) {
	b.t.Helper()
	b.js(fmt.Sprintf("location.hash = %q", name))
	b.wait(until)
}

// wait waits until a JavaScript expression is true. Beside other work that has the CPUs first, the
// sink's worker and the browser were seen to get none of them for half a minute.
func (b *browser) wait(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(sinktest.Patience))); err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.visibilityState + '\\n' + document.body.innerText"))
		b.t.Fatalf("never true: %s: %v; the page says\n%s", expression, err, text)
	}
}

// picture keeps a screenshot where the flag asks for it.
func (b *browser) picture(name string) {
	if screenshots == "" {
		return
	}
	b.do(chromedp.Sleep(time.Second))
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(screenshots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// row is an expression: the text of the table row with this id holds all words.
func row(id string, words ...string) string {
	tests := make([]string, len(words))
	for i, w := range words {
		tests[i] = fmt.Sprintf("r.innerText.includes(%q)", w)
	}
	return fmt.Sprintf("(() => { const r = document.querySelector('tr[data-id=%q]'); return !!r && %s; })()", id, strings.Join(append(tests, "true"), " && "))
}

// onVeths is a configuration of config between wires a and b.
func onVeths(text string) string {
	for i, name := range []string{"a-far", "b-near"} {
		text = strings.Replace(text, fmt.Sprintf("net_null%d", i), fmt.Sprintf("net_af_packet%d,iface=%s", i, name), 1)
	}
	return text
}

// axe runs axe-core over the page as it is: what a keyboard, a screen reader or weak eyes cannot use is an error of the test.
func (b *browser) axe(what string) {
	b.t.Helper()
	script, err := os.ReadFile("../../../../bin/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		b.t.Fatalf("%v: scripts/deps.sh installs it", err)
	}
	b.js(string(script))
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`window.found = null; axe.run().then(r => { window.found = r.violations.map(v => v.id + ': ' + v.help + '\n' + v.nodes.slice(0, 4).map(n => '  ' + n.html.slice(0, 200) + ' ' + (n.any[0] || n.all[0] || n.none[0] || {}).message).join('\n')).join('\n'); }); true`)); err != nil {
		b.t.Fatal(err)
	}
	b.wait(`window.found !== null`)
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`window.found`))
	if err != nil || found != "" {
		b.t.Errorf("%s: axe-core finds %v\n%s", what, err, found)
	}
}

// set changes a field of a form, as a user does.
func (b *browser) set(id, value string) {
	b.t.Helper()
	b.js(fmt.Sprintf(`const f = document.getElementById(%q); f.value = %q; for (const e of ['input', 'change']) f.dispatchEvent(new Event(e, {bubbles: true}))`, id, value))
}

// node is an expression: a node of the map has a class.
func node(id, class string) string {
	return fmt.Sprintf(`document.querySelector('.node[data-node=%q]')?.classList.contains(%q)`, id, class)
}

// TestPageShowsWhatIsWrong: in real Chromium, the page of a sink behind the playground's network shows nothing while nothing is wrong,
// and then which switch is slow, who fills which queue, which switch is gone, and where packets get lost.
func TestPageShowsWhatIsWrong(t *testing.T) {
	if !netns.In(t) {
		return
	}
	sinktest.Wires(t, "a", "b")
	r := sinktest.Start(t, sinktest.PageConfig(t))
	r.Get(t, "/readyz")
	out := sinktest.OpenWire(t, "a-near")
	p := &sinktest.Played{Network: scene.New()}
	p.Fast.Store(true)
	var stop atomic.Bool
	var playing sync.WaitGroup
	playing.Go(func() { p.Play(t, out, &stop) })
	defer func() { stop.Store(true); playing.Wait() }()

	b := openBrowser(t, "http://"+r.HTTP)
	b.wait(`document.querySelector('.pill.good')?.innerText === 'ready'`)
	b.wait(`document.querySelector('.problems li.error, .problems li.warning')?.innerText.includes('collector local, reason unreachable') && /^\(\d+\) intsink$/.test(document.title)`) // nothing leads there
	b.wait(`document.querySelector('#tab-sink .badge')?.innerText === '1'`)
	b.calm(p)
	for _, word := range []string{"slow", "fill", "move"} {
		p.Make(t, word)
	}
	b.slowAndFull()
	b.moved()
	b.gone()
	b.flows()
	b.rest()
	b.history()
	p.Make(t, "lose")
	b.view("now", `[...document.querySelectorAll('.problems li.error')].some(p => /Loss[^]*from 201 to 301[^]*since \d\d:\d\d:\d\d, for /.test(p.innerText))`)
	b.lost()
	b.act(r)
	b.small()

	b.mu.Lock()
	for _, f := range b.faults {
		t.Error(f)
	}
	b.mu.Unlock()
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
	b.wait(`document.querySelector('.state.bad')?.innerText.includes('Is intsink running?')`)
}

// slowed is a flow by way of the switch that becomes slow, to a host whose queue stays empty.
const slowed = "udp:10.1.0.15:40042-10.3.1.11:8000"

// calm: what is usual is learned, and nothing of the network is coloured.
func (b *browser) calm(p *sinktest.Played) {
	b.t.Helper()
	b.view("links", row("edge to_host", "edge", "to host"))
	b.wait(`parseFloat(document.querySelector('.rate b')?.innerText) > 0`)
	b.view("paths", `document.querySelectorAll('.map .node').length === 9`)
	b.wait(`[...document.querySelectorAll('.node, .edge')].every(n => ['usual', 'unknown'].some(c => n.classList.contains(c)))`)
	b.view("segments", `document.querySelectorAll('td[data-name=usual]').length === 20 && [...document.querySelectorAll('td[data-name=usual]')].every(c => c.innerText.includes('ns'))`)
	b.view("paths", `document.querySelectorAll('.edge.usual').length === 20 && !document.querySelector('.edge.unknown, .node.high, .node.raised')`)
	b.axe("a calm map")
	b.view("flows/"+slowed, `[...document.querySelectorAll('#why tr')].some(r => r.innerText.startsWith('node 202') && r.innerText.includes('×'))`)
	p.Fast.Store(false)
}

// slowAndFull: the slow switch, and the full queue with who fills it.
func (b *browser) slowAndFull() {
	b.t.Helper()
	const culprit = "udp:10.2.0.19:40055-10.3.2.12:8000"
	b.view("now", `[...document.querySelectorAll('.problems li')].some(p => p.innerText.includes('node 302, egress 12, queue 2') && p.innerText.includes('`+culprit+`'))`)
	b.wait(`[...document.querySelectorAll('.problems li')].some(p => p.innerText.includes('node 202'))`)
	b.wait(`[...document.querySelectorAll('.problems li')].some(p => p.innerText.includes('node 203'))`)
	b.wait(`[...document.querySelectorAll('.problems:not(.over) .since')].every(s => [0, 3600e3].some(back => s.innerText.includes('since ' + new Date(Date.now() - back).toISOString().slice(11, 14))))`) // UTC, wherever the browser is
	b.wait(`[...document.querySelectorAll('.problems a.button')].some(a => a.href.includes('incident?node=202'))`)
	b.axe("Now")
	b.js(`[...document.querySelectorAll('.problems a.place')].find(a => a.innerText.includes('node 202')).click()`)
	b.wait(`location.hash === '#queues/?node=202' && !!document.querySelector('.problems li')`)
	b.js(`history.back()`)
	b.wait(`[...document.querySelectorAll('.problems a.place')].some(a => a.innerText.includes('node 302, egress 12'))`)
	b.js(`[...document.querySelectorAll('.problems a.place')].find(a => a.innerText.includes('node 302, egress 12')).click()`)
	b.wait(`location.hash === '#queues/302:12:2' && document.querySelector('tbody tr[data-id]')?.dataset.id === '302:12:2'`)
	b.view("queues", row("302:12:2", "congested for"))
	b.wait(`document.querySelector('.timelines .label').innerText.includes('302:12:2')`) // what is wrong is first
	b.wait(`document.querySelector('tr[data-id="302:12:2"] td[data-name="times usual"]').innerText.includes('×')`)
	b.js(`document.querySelector('tr[data-id="302:12:2"]').click()`)
	b.wait(`document.querySelector('#culprits li')?.innerText.includes('` + culprit + `') && parseInt(document.querySelector('#culprits b').innerText) > 80`)
	b.wait(`document.querySelectorAll('#victims li').length === 8`) // all flows to this host
	b.wait(`!!document.querySelector('.timelines .episode') && document.querySelectorAll('.bars rect').length > 1`)
	b.axe("Queues")
	b.picture("queues")
}

// history: what was before the page was opened is there at once, in lines and charts.
func (b *browser) history() {
	b.t.Helper()
	const older = `(n) => n > performance.now() / 10000 + 2` // more cells of ten seconds than began since
	b.do(chromedp.Reload())
	b.view("queues/302:12:2", `!!document.querySelector('.timelines')`)
	b.wait(`(` + older + `)(document.querySelectorAll('.timelines svg[aria-label^="queue 302:12:2,"] .cell').length)`)
	b.wait(`(` + older + `)(document.querySelector('.chart .s0')?.getAttribute('d').split(/[ML]/).length)`)
	b.js(`location.hash = 'now'`)
	b.wait(`[...document.querySelectorAll('.problems li')].filter(p => p.querySelector('.spark path')?.getAttribute('d').includes('L')).length >= 2`)
	b.axe("Now with lines")
	b.picture("now")
	b.view("segments/?link=101-202", `document.querySelectorAll('.chart .series').length >= 2`)
	b.axe("a segment")
	b.view("queues/?node=202", `!!document.querySelector('a.button')`)
	b.was("node=202", "<h1>network slow at ")
}

// was follows a question whether it was the network to its page, which has a text.
func (b *browser) was(question, text string) {
	b.t.Helper()
	path, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector('a.button[href*=%q]').href`, question)))
	if err != nil {
		b.t.Fatal(err)
	}
	page := openPage(b.t, b.base, strings.TrimPrefix(path, b.base))
	page.wait(fmt.Sprintf(`document.body.innerHTML.includes(%q)`, text))
	page.axe("incident")
	page.picture("incident")
	page.do(chromedp.EmulateViewport(390, 844))
	page.wait(`document.documentElement.scrollWidth <= 390`)
}

// moved: the map has the ghost of the switch that is gone, and everything in it is a link.
func (b *browser) moved() {
	b.t.Helper()
	b.view("paths", node("202", "high")+" && "+node("302", "high")+" && "+node("203", "gone"))
	b.wait(`['101', '102', '103', '201', '204', '301'].every(n => document.querySelector('.node[data-node="' + n + '"]').classList.contains('usual'))`)
	b.wait(`document.querySelector('.node.gone.wrong[data-node="203"]') && document.querySelector('.edge[data-edge="203 301"]').classList.contains('gone') && document.querySelector('.edge[data-edge="103 204"]').classList.contains('fresh')`)
	b.wait(`[...document.querySelectorAll('caption')].some(c => c.innerText.startsWith('Flows that took another way'))`)
	b.wait(`[...document.querySelectorAll('tr')].some(r => r.innerText.includes('101 › 204 › 301') && r.innerText.includes('changed'))`)
	b.wait(`(() => { // no label is cut
		const map = document.querySelector('.map svg').getBoundingClientRect();
		return [...document.querySelectorAll('.map text')].every(x => x.getBoundingClientRect().left >= map.left && x.getBoundingClientRect().right <= map.right);
	})()`)
	b.axe("a map with ghosts")
	b.picture("paths")
	b.js(`document.documentElement.dataset.theme = 'dark'`)
	b.axe("a dark map")
	b.picture("paths-dark")
	b.js(`document.documentElement.dataset.theme = 'light'`)
	b.js(`[...document.querySelectorAll('tr.leads')].find(r => r.innerText.includes('101 › 204 › 301')).click()`)
	b.wait(`[...document.querySelectorAll('caption')].some(c => c.innerText.startsWith('The same, by interfaces'))`)
	b.js(`document.querySelector('a[href^="#flows/?path="]').click()`) // wherever it is by then: rows move
	b.wait(`document.querySelectorAll('tr[data-id]').length === 1 && document.querySelector('#flow-filter').value.startsWith('path=')`)
	b.view("paths", `!!document.querySelector('.node[data-node="202"]')`)
	b.js(`document.querySelector('.node[data-node="202"]').focus()`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`location.hash === '#queues/?node=202' && document.querySelectorAll('tr[data-id]').length === 2`)
	b.view("paths", `!!document.querySelector('.edge[data-edge="101 201"]')`)
	b.js(`document.querySelector('.edge[data-edge="101 201"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))`)
	b.wait(`location.hash === '#segments/?link=101-201' && document.querySelectorAll('td[data-name=usual]').length === 1`)
}

// gone: what is gone is so in every view; what never was is not calm.
func (b *browser) gone() {
	b.t.Helper()
	b.view("queues/?node=203", `document.querySelector('.problems li')?.innerText.includes('Node gone') && /Last seen \d\d:\d\d:\d\d\. /.test(document.querySelector('.problems li').innerText)`)
	b.wait(`[...document.querySelectorAll('td[data-name=state]')].length === 2 && [...document.querySelectorAll('td[data-name=state]')].every(c => c.innerText.includes('203 gone'))`)
	b.axe("a node that is gone")
	b.view("segments", `[...document.querySelectorAll('tr[data-id]')].filter(r => /^(101|102|103):\d+ › 203|^203:/.test(r.innerText) && r.innerText.includes('203 gone')).length === 7`) // 5 segments, 2 interfaces
	b.view("queues/?node=999", `document.querySelector('.state')?.innerText.includes('Node 999 is not known')`)
}

// flows: their order, why one is reported, the filter.
func (b *browser) flows() {
	b.t.Helper()
	b.view("flows", `document.querySelectorAll('tbody tr').length === 50`)
	b.set("flow-sort", "hop_latency")
	b.wait(`document.querySelector('tbody tr')?.innerText.includes('302') && document.querySelector('tbody tr').innerText.includes(' ms')`)
	b.js(`location.hash = 'flows/` + slowed + `'`)
	b.wait(`document.querySelector('#why .reference.high')?.closest('tr').innerText.startsWith('node 202') && document.querySelector('#why .reference.high')?.closest('tr').innerText.includes('×')`)
	b.axe("why")
	b.was("flow=10.1.0.15,10.3.1.11", "node 202")
	b.was("host=10.3.1.11", "coverage:")
	b.picture("flows")
	b.view("flows", `!!document.querySelector('#flow-filter')`)
	b.typed("flow-filter", "10.1.0.15")
	b.wait(`document.querySelectorAll('tr[data-id]').length === 1`)
	for filter, rows := range map[string]int{"10.1.0.15": 1, "10.1.0.0/16": 20, "10.3.2.12": 8, "40042": 1, "10.9.0.0/16": 0} {
		b.set("flow-filter", filter)
		b.wait(fmt.Sprintf(`document.querySelectorAll('tr[data-id]').length === %d`, rows))
	}
}

// typed types into a field as slowly as people do, while the page is drawn anew: nothing of it is lost.
func (b *browser) typed(id, text string) {
	b.t.Helper()
	b.do(chromedp.Focus("#" + id))
	for _, key := range text {
		b.do(chromedp.KeyEvent(string(key)), chromedp.Sleep(300*time.Millisecond))
	}
	b.wait(fmt.Sprintf(`document.getElementById(%q).value === %q`, id, text))
}

// lost: where packets get lost is marked on the map and told at the segment; the flows that lose come first when asked for.
func (b *browser) lost() {
	b.t.Helper()
	b.view("paths", `document.querySelector('.edge[data-edge="201 301"].high')?.textContent.includes('loss')`)
	b.wait(`!!document.querySelector('.edge[data-edge="201 302"]') && !document.querySelector('.edge[data-edge="201 302"].high')`)
	b.axe("a map with loss")
	b.view("queues", `document.querySelectorAll('.timelines .label').length > 0 && ![...document.querySelectorAll('.problems li')].some(p => p.innerText.includes('Loss'))`) // only what queues have
	b.view("segments/?link=201-301", `document.querySelector('.problems li')?.innerText.includes('from 201 to 301') && document.querySelectorAll('table').length === 2`)
	b.wait(`[...document.querySelectorAll('table')].every(t => t.querySelectorAll('tbody tr').length === 1)`) // of its interface, too
	b.view("flows", `document.querySelector('.filters')?.innerText.includes('50 of 60 shown')`)
	b.set("flow-sort", "lost")
	b.wait(`(() => { // the most first, whatever the sink itself missed beside it
		const lost = [...document.querySelectorAll('td[data-name=lost]')].map(c => parseFloat(c.innerText) * (c.innerText.includes('k') ? 1000 : 1));
		return lost[0] > 0 && lost.every((n, i) => i === 0 || n <= lost[i - 1]);
	})()`)
	b.set("flow-sort", "packets")
}

// rest: events, the sink itself, its links, keys.
func (b *browser) rest() {
	b.t.Helper()
	b.view("events", `['path_change', 'hop_latency', 'congestion'].every(e => [...document.querySelectorAll('tbody .chip')].some(c => c.innerText === e))`)
	b.axe("Events")
	b.picture("events")
	b.view("sink", row("local", "192.0.2.10:8555"))
	b.wait(`/ for \d+ (s|min)/.test(document.querySelector('tr[data-id="local"] .pill.bad')?.innerText)`) // nothing leads there
	b.wait(row("w0", "60 of"))
	b.axe("Sink")
	b.view("links", row("edge to_host", "edge")+` && !!document.querySelector('.chart .series')`)
	b.wait(`(() => { // the pointer on the chart: the legend has the value and the time there
		const svg = document.querySelector('.chart svg'), r = svg.getBoundingClientRect();
		svg.dispatchEvent(new MouseEvent('mousemove', {clientX: r.right - 12, clientY: r.top + 20, bubbles: true}));
		return !!document.querySelector('.chart .cursor') && [...document.querySelectorAll('.legend time')].some(v => /^\d\d:\d\d:\d\d$/.test(v.innerText));
	})()`)
	b.wait(`[...document.querySelectorAll('th')].some(h => h.innerText === 'in, bit/s')`)
	b.wait(`[...document.querySelectorAll('.chart svg')].every(s => Math.abs(s.getBoundingClientRect().width - s.viewBox.baseVal.width) < 2 && [...s.querySelectorAll('text')].every(x => x.getBoundingClientRect().right <= s.getBoundingClientRect().right))`) // text as large as all other, and not cut
	b.axe("Links")
	b.do(chromedp.Focus("#tab-links"), chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`location.hash === '#sink' && document.activeElement.id === 'tab-sink'`)
}

// small: the same on a phone.
func (b *browser) small() {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(390, 844))
	for _, name := range []string{"now", "paths", "queues", "segments", "flows", "events", "links", "sink", "act"} {
		b.view(name, `document.querySelector('#tab-`+name+`').getAttribute('aria-selected') === 'true' && !document.body.innerText.includes('Loading')`)
		b.wait(`document.documentElement.scrollWidth <= 390`)
		b.axe(name + " on a phone")
		if name == "now" {
			b.picture("phone")
		}
	}
	b.view("flows", `document.querySelector('caption')?.getBoundingClientRect().width > 300`)
	b.wait(`[...document.querySelectorAll('tbody tr')].every(r => r.getBoundingClientRect().height < 90)`) // a card of some lines, no column of characters
}

// act: without a token nothing can be changed.
func (b *browser) act(r *sinktest.Sink) {
	b.t.Helper()
	b.view("act/udp:10.2.0.19:40055-10.3.2.12:8000", `document.getElementById('capture-source')?.value === '10.2.0.19' && document.getElementById('rule-destination_port').value === '8000'`)
	b.wait(`document.getElementById('capture').disabled && document.getElementById('rule').disabled`)
	b.wait(`document.querySelector('details')?.innerText.includes('How to get one') && document.querySelector('details pre').textContent.includes('role   = "write"')`)
	b.axe("Act")
}

// TestPageShowsWhatIsOtherwise: a mode other than full and a trial, for as long as there is one.
func TestPageShowsWhatIsOtherwise(t *testing.T) {
	r, socket, _, text := sinktest.WithSocket(t)
	b := openBrowser(t, "http://"+r.HTTP)
	b.wait(`document.querySelector('.pill.good') && document.querySelectorAll('.notice').length === 0`)
	sinktest.Must(t, "mode", "strip", "--socket", socket)
	b.wait(`/^mode strip since 2\S+Z: asked for strip by /.test(document.querySelector('.notice')?.innerText)`)
	trial := sinktest.Write(t, filepath.Join(t.TempDir(), "new.hcl"), strings.Replace(text, "sample = 100", "sample = 50", 1))
	sinktest.Must(t, "reload", "--socket", socket, "--config", trial, "--confirm", "10m")
	b.wait(`/^on trial: generation 1 comes back at 2\S+Z unless /.test(document.querySelectorAll('.notice')[1]?.innerText)`)
	sinktest.Must(t, "mode", "full", "--socket", socket)
	if _, stderr, code := sinktest.Run(t, "confirm", "--socket", socket); code != 0 && !sinktest.Unpolled(stderr) { // which ends a trial, too
		t.Error(stderr)
	}
	b.wait(`document.querySelectorAll('.notice').length === 0`)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		t.Error(f)
	}
}
