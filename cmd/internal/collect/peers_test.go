package collect

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
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
	all[0].send(0, 50)
	all[1].send(50, 100)
	all[0].send(100, 150)
	all[0].wait("the packets are found elsewhere", func() bool {
		return all[0].metric(`intcollect_elsewhere_report_packets_total{listen="reports"}`) == 50
	})
	if n := all[0].metric(`intcollect_lost_report_packets_total{listen="reports"}`); n != 0 {
		t.Errorf("%v are told as lost", n)
	}
	if resp, err := http.Post(urls[0]+seenPath, "application/json", strings.NewReader("[{")); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("nonsense: %v %v", resp, err)
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
