package main

import (
	"context"
	"fmt"
	"net/netip"
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

	"intsink/engine/wire/intgen"
	"intsink/internal/netns"
	"intsink/internal/wire"
)

// screenshots is the folder that pictures of the page are written to, "" for none:
//
//	INTSINK_SCREENSHOTS=$PWD/docs/images go test ./cmd/intsink -run Page
var screenshots = os.Getenv("INTSINK_SCREENSHOTS")

// scene is the network that the page is shown of: flows from 101 to 103 by way of 102 or
// 112. trouble makes 102 slow, fills a queue of 103 and moves one flow to 122.
type scene struct {
	flows   int
	sent    uint32
	trouble atomic.Bool
}

// hops is what the nodes write into a packet of a flow, newest first.
func (s *scene) hops(flow int) []intgen.Hop {
	now := uint64(time.Now().UnixNano())
	middle, latency, queue := uint32(102), uint32(4000+10*flow), uint32(40+flow)
	if flow%3 == 0 {
		middle = 112
	}
	slow := uint32(0)
	if s.trouble.Load() {
		if flow == s.flows-1 {
			middle = 122
		}
		if middle == 102 {
			slow = 300_000
		}
		queue = 9000
	}
	return []intgen.Hop{
		{NodeID: 103, Ingress: uint16(middle % 100), Egress: 2, LatencyNs: latency, QueueOccupancy: queue, IngressTimestamp: now - 5000, EgressTimestamp: now, TxUtilization: 30},
		{NodeID: middle, Ingress: 1, Egress: 2, LatencyNs: latency + slow, QueueOccupancy: 20, IngressTimestamp: now - 20_000, EgressTimestamp: now - 11_000, TxUtilization: 20},
		{NodeID: 101, Ingress: 1, Egress: uint16(middle % 100), LatencyNs: latency, QueueOccupancy: 10, IngressTimestamp: now - 35_000, EgressTimestamp: now - 26_000, TxUtilization: 40},
	}
}

// play sends a packet of each flow every few milliseconds until stop is set.
func (s *scene) play(t *testing.T, out *wire.Interface, stop *atomic.Bool) {
	source := &intgen.Source{UDPPort: 5000, Bitmap: 0xfd00, MaxHops: 8}
	for !stop.Load() {
		for n := range s.flows {
			f := intgen.Flow{
				SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
				Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(n + 1)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}), Proto: intgen.UDP, SrcPort: uint16(1024 + n), DstPort: 8000,
			}
			s.sent++
			frame, err := source.Insert(f.Frame(100+40*n, s.sent), s.hops(n))
			if err != nil {
				t.Error(err)
				return
			}
			out.Send(frame) // or not, where the kernel has no room: the next of the flow may go
		}
		time.Sleep(5 * time.Millisecond) // the pace of the traffic, not of the test
	}
}

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
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1300, 900), chromedp.WSURLReadTimeout(patience))
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
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(patience))); err != nil {
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

const pageConfig = `
events {
  congestion { raise = 8000 }
  link_latency { absolute = "10us" }
  refresh { every = "1m" }
}
`

// onVeths is a configuration of config between wires a and b.
func onVeths(text string) string {
	for i, name := range []string{"a-far", "b-near"} {
		text = strings.Replace(text, fmt.Sprintf("net_null%d", i), fmt.Sprintf("net_af_packet%d,iface=%s", i, name), 1)
	}
	return text
}

// TestPageShowsWhatIsWrong: a network has one slow hop, one congested queue and one flow that
// changed its path. In real Chromium, the page names each of them.
func TestPageShowsWhatIsWrong(t *testing.T) {
	if !netns.In(t) {
		return
	}
	wires(t, "a", "b")
	text := onVeths(config("udp_port = 5000"))
	text = strings.Replace(text, `watch "all" { sample = 100 }`,
		`watch "all" { events = ["new_flow", "path_change", "hop_latency", "end_to_end", "link_latency", "congestion", "tx_utilization", "refresh", "flow_end"] }`, 1)
	r := startRun(t, small+text+pageConfig)
	r.get(t, "/readyz")
	out := openWire(t, "a-near")
	s := &scene{flows: 12}
	var stop atomic.Bool
	var playing sync.WaitGroup
	playing.Go(func() { s.play(t, out, &stop) })
	defer func() { stop.Store(true); playing.Wait() }()

	b := openBrowser(t, "http://"+r.http)
	b.wait(`document.querySelector('.pill.good')?.innerText === 'ready'`)
	b.wait(`document.querySelector('.problems li.warning')?.innerText.includes('collector primary, reason unreachable') && /^\(\d+\) intsink$/.test(document.title)`) // nothing leads there
	b.view("links", row("edge to_host", "edge", "to host"))
	b.wait(`parseFloat(document.querySelector('.rate b')?.innerText) > 0`)
	b.view("paths", `document.querySelectorAll('.map .node').length === 4`) // 101, 102, 112, 103
	b.view("flows", `document.querySelector('tbody')?.innerText.includes('none since it began')`)
	b.view("queues", row("103:2:0", "calm"))
	s.trouble.Store(true)

	b.view("queues", row("103:2:0", "congested since"))
	b.wait(row("102:2:0", "calm"))
	b.do(chromedp.Click(`tr[data-id="103:2:0"]`))
	b.wait(`document.querySelector('#through')?.innerText.includes('udp:10.0.0.12:1035-10.1.0.1:8000')`) // its packets are the longest
	b.picture("queues")

	b.view("paths", `[...document.querySelectorAll('tr')].some(r => r.innerText.includes('101 › 122 › 103') && r.innerText.includes('changed'))`)
	b.wait(`document.querySelector('.node[data-node="103"]')?.classList.contains('congested')`)
	b.wait(`document.querySelector('.node[data-node="102"].heat-7 title')?.textContent.includes('node 102: 30')`) // the slow one, in us
	b.wait(`['101', '112', '122', '103'].every(n => document.querySelector('.node[data-node="' + n + '"]')?.classList.contains('heat-0'))`)
	b.picture("paths")
	// The flows of a path differ in no interface here, so that there are as many rows as paths; one opens to its interfaces.
	b.js(`[...document.querySelectorAll('tr')].find(r => r.innerText.includes('101 › 122 › 103')).click()`)
	b.wait(`[...document.querySelectorAll('caption')].some(c => c.innerText.startsWith('The same, by interfaces'))`)
	b.do(chromedp.Click(`a[href^="#flows/?path="]`))
	b.wait(`document.querySelectorAll('tr[data-id]').length === 1 && document.querySelector('#flow-filter').value.startsWith('path=')`)
	b.view("paths", `!!document.querySelector('.node[data-node="102"]')`)
	b.js(`document.querySelector('.node[data-node="102"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))`)
	b.wait(`location.hash === '#queues/?node=102' && document.querySelectorAll('tr[data-id]').length === 1`)
	b.view("paths", `!!document.querySelector('.edge')`)
	b.js(`document.querySelector('.edge').dispatchEvent(new MouseEvent('click', {bubbles: true}))`)
	b.wait(`location.hash.startsWith('#hops/?link=') && document.querySelectorAll('tr[data-id]').length === 1`)

	b.view("flows", `document.querySelectorAll('tbody tr').length === 12`)
	b.js(`const s = document.querySelector('#flow-sort'); s.value = 'hop_latency'; s.dispatchEvent(new Event('change', {bubbles: true}))`)
	b.wait(`document.querySelector('tbody tr')?.innerText.includes('101 › 102 › 103') && /30\d µs/.test(document.querySelector('tbody tr').innerText)`)
	b.do(chromedp.Click("tbody tr"))
	b.wait(`document.querySelector('#why .slowest')?.parentElement.innerText.startsWith('node 102')`)
	b.picture("flows")
	for filter, rows := range map[string]int{"10.0.0.5": 1, "10.0.0.4/30": 4, "10.1.0.1": 12, "1030": 1, "10.9.0.0/16": 0} {
		b.js(fmt.Sprintf(`const f = document.querySelector('#flow-filter'); f.value = %q; f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true}))`, filter))
		b.wait(fmt.Sprintf(`document.querySelectorAll('tr[data-id]').length === %d`, rows))
	}

	b.view("events", `['path_change', 'hop_latency', 'congestion'].every(e => [...document.querySelectorAll('tbody .chip')].some(c => c.innerText === e))`)
	b.picture("events")
	b.view("hops", `document.querySelectorAll('tbody tr').length >= 4`)
	b.view("collectors", row("primary", "192.0.2.10:8555"))
	b.wait(`/ since \d+ (s|min)/.test(document.querySelector('tr[data-id="primary"] .pill.bad')?.innerText)`) // nothing leads there
	b.view("workers", row("w0", "12 of"))
	b.view("links", row("edge to_host", "edge")+` && !!document.querySelector('.uplot')`)
	b.wait(`document.querySelector('.chart figcaption').innerText.startsWith('Packets/s')`)
	b.wait(`(() => { // the pointer on the chart: the legend has the time of day
		const over = document.querySelector('.u-over'), r = over.getBoundingClientRect();
		for (const type of ['mouseenter', 'mousemove']) over.dispatchEvent(new MouseEvent(type, {clientX: r.right - 1, clientY: r.top + 20, bubbles: true}));
		return [...document.querySelectorAll('.u-legend .u-value')].some(v => /^\d\d:\d\d:\d\d$/.test(v.innerText));
	})()`)
	b.wait(`[...document.querySelectorAll('th')].some(h => h.innerText === 'in, bit/s')`)
	b.picture("links")

	b.do(chromedp.Focus("#tab-links"), chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`location.hash === '#flows'`)
	b.do(chromedp.EmulateViewport(390, 844))
	b.wait(`document.documentElement.scrollWidth <= 390`)
	b.wait(`document.querySelector('caption')?.getBoundingClientRect().width > 300`)
	b.wait(`[...document.querySelectorAll('tbody tr')].every(r => r.getBoundingClientRect().height < 90)`) // a card of some lines, no column of characters

	b.mu.Lock()
	for _, f := range b.faults {
		t.Error(f)
	}
	b.mu.Unlock()
	if code := r.stop(t, patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
	b.wait(`document.querySelector('.state.bad')?.innerText.includes('Is intsink running?')`)
}

// TestPageShowsWhatIsOtherwise: a mode other than full and a trial, for as long as there is one.
func TestPageShowsWhatIsOtherwise(t *testing.T) {
	r, socket, _, text := withSocket(t)
	b := openBrowser(t, "http://"+r.http)
	b.wait(`document.querySelector('.pill.good') && document.querySelectorAll('.notice').length === 0`)
	must(t, "mode", "strip", "--socket", socket)
	b.wait(`/^mode strip since 2\S+Z: asked for strip by /.test(document.querySelector('.notice')?.innerText)`)
	trial := write(t, filepath.Join(t.TempDir(), "new.hcl"), strings.Replace(text, "sample = 100", "sample = 50", 1))
	must(t, "reload", "--socket", socket, "--config", trial, "--confirm", "10m")
	b.wait(`/^the configuration is on trial: generation 1 comes back at 2\S+Z unless /.test(document.querySelectorAll('.notice')[1]?.innerText)`)
	must(t, "mode", "full", "--socket", socket)
	if _, stderr, code := intsink(t, "confirm", "--socket", socket); code != 0 && !unpolled(stderr) { // which ends a trial, too
		t.Error(stderr)
	}
	b.wait(`document.querySelectorAll('.notice').length === 0`)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		t.Error(f)
	}
}
