package collect

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"intsink/exporters/collect"
)

// TestPeers: report packets of a stream that went to another collector for a while are not told as lost.
func TestPeers(t *testing.T) {
	const rest = "file \"out\" { path = \"out.jsonl\" }\n"
	dirs := []string{t.TempDir(), t.TempDir()}
	var configs, urls []string
	for _, dir := range dirs {
		configs = append(configs, configure(t, dir, rest))
		text, _ := os.ReadFile(configs[len(configs)-1])
		urls = append(urls, "http://"+addresses.FindAllStringSubmatch(string(text), -1)[1][1])
	}
	var all []*process
	for i, config := range configs {
		text, _ := os.ReadFile(config)
		write(t, config, string(text)+fmt.Sprintf("peers = [%q]\n", urls[1-i]))
		all = append(all, launch(t, config))
	}
	for i, n := range []float64{50, 50, 100} { // each is there before somebody asks for it, a second later
		p := all[i%2]
		p.send(uint32(i*50), uint32(i*50+50))
		p.wait("the packets are taken", func() bool { return p.metric(`intcollect_report_packets_total{listen="reports"}`) == n })
	}
	all[0].wait("the packets are found elsewhere", func() bool {
		return all[0].metric(`intcollect_elsewhere_report_packets_total{listen="reports"}`) == 50
	})
	if n := all[0].metric(`intcollect_lost_report_packets_total{listen="reports"}`); n != 0 {
		t.Errorf("%v are told as lost", n)
	}
	if resp, err := http.Post(urls[0]+seenPath, "application/json", strings.NewReader("[{")); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("nonsense: %v %v", resp, err)
	}
	many := "[{}" + strings.Repeat(",{}", collect.MaxQuestions) + "]"
	if resp, err := http.Post(urls[0]+seenPath, "application/json", strings.NewReader(many)); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too many questions: %v %v", resp, err)
	}
	for i, p := range all {
		if code := p.end(syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.stderr)
		}
		if text, err := os.ReadFile(dirs[i] + "/out.jsonl"); err != nil || strings.Contains(string(text), `"type":"gap"`) {
			t.Errorf("%v, or a gap record in %s", err, text)
		}
	}
}
