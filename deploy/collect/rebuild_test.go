//go:build engines

package collect

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofCommit returns a file of this folder as a commit had it.
func ofCommit(t *testing.T, commit, name string) string {
	t.Helper()
	b, err := exec.Command("git", "show", commit+":./"+name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return string(b)
}

// commits are those that changed a file of this folder, the oldest first.
func commits(t *testing.T, name string) []string {
	t.Helper()
	b, err := exec.Command("git", "log", "--reverse", "--format=%h", "--", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// typed are the blocks of docs/collect.md about tables of an earlier version, by what they do.
func typed(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "### Tables of an earlier version\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```(?:sh|sql)\n(.*?)```").FindAllStringSubmatch(section, -1)
	names := []string{"upgrade", "make", "move", "drop", "problems"}
	if len(blocks) != len(names) {
		t.Fatalf("docs/collect.md has %d blocks about tables of an earlier version", len(blocks))
	}
	all := map[string]string{}
	for i, name := range names {
		all[name] = blocks[i][1]
	}
	return all
}

// shell types text in this folder, where clickhouse-client asks c. It goes on as a shell does: until a statement fails.
func (c *clickHouse) shell(text string, before func(sql string)) error {
	c.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		for _, sql := range statements(string(text)) {
			if before != nil {
				before(sql)
			}
			answer, err := c.query(sql)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			io.WriteString(w, answer)
		}
	}))
	defer server.Close()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", text)
	cmd.Env = append(os.Environ(), "PATH="+here(c.t)+"/testdata:"+os.Getenv("PATH"), "CLICKHOUSE_TEST="+server.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// history is a database that an earlier version made, and what was stored there.
type history struct {
	*clickHouse
	n int // records
}

// insert stores so many reports, one gap and the sums of a stream, each of other ten minutes.
func (h *history) insert(reports int) {
	h.t.Helper()
	var all []string
	for range reports {
		h.n++
		all = append(all, fmt.Sprintf("('report', 'i%d', now() - %d, 1, 'f%d', 'p', [(1, 2, 3)], [(5, 1, 2, NULL, NULL, 100, 0, 7, NULL, NULL, NULL%s)], ['new_flow', 'hop_latency'], ['truncated'])", h.n, h.n*600, h.n, h.rest()))
	}
	h.must("INSERT INTO int.reports (type, id, time, node_id, flow, path, links, hops, events, flags) VALUES " + strings.Join(all, ", "))
	h.must(fmt.Sprintf("INSERT INTO int.reports (type, id, time, node_id, stats) VALUES ('stats', 's%d', now() - %d, 1, (90, 10, 0, 0))", h.n, h.n*600))
}

// rest are the values of a hop that its columns of now have, and those of the table may lack.
func (h *history) rest() string {
	if strings.Contains(h.must("SELECT type FROM system.columns WHERE database = 'int' AND table = 'reports' AND name = 'hops'"), "ds_metadata") {
		return ", NULL, NULL, NULL, ''"
	}
	return ""
}

// check compares what is made of the reports with their number.
func (h *history) check(when string) {
	h.t.Helper()
	for _, sum := range []string{"count() AS n FROM int.reports WHERE type = 'report'", "count() AS n FROM int.reports WHERE events = ['new_flow', 'hop_latency'] AND has(flags, 'truncated')", "sum(reports) AS n FROM int.hops", "sum(reports) AS n FROM int.links", "sum(reports) AS n FROM int.queues", "sum(reports) AS n FROM int.paths"} {
		if got, want := h.must("SELECT toUInt32(n) AS n FROM (SELECT "+sum+")"), countRow(h.n)+"\n"; got != want {
			h.t.Errorf("%s: %s is %s, want %s", when, sum, got, want)
		}
	}
	if got, want := h.must("SELECT toUInt32((SELECT count() FROM int.reports FINAL WHERE type = 'stats')) = count() AND sum(lost) = 10 * count() AS n FROM int.streams FINAL"), countRow(1)+"\n"; got != want {
		h.t.Errorf("%s: int.streams has not what int.reports has", when)
	}
}

// shape is what tables and views of int are: names, keys, columns, queries.
func (c *clickHouse) shape(keys bool) string {
	c.t.Helper()
	order := "''"
	if keys {
		order = "partition_key || ' | ' || sorting_key"
	}
	return c.must("SELECT name, engine, "+order+" AS keys, as_select FROM system.tables WHERE database = 'int' AND NOT startsWith(name, 'spare_') ORDER BY name") +
		c.must("SELECT table, name, type, compression_codec FROM system.columns WHERE database = 'int' AND NOT startsWith(table, 'spare_') AND table IN (SELECT name FROM system.tables WHERE database = 'int' AND engine LIKE '%MergeTree') "+
			"AND (table = 'reports' OR "+fmt.Sprint(keys)+") ORDER BY table, position")
}

// TestTablesOfEarlierVersions types what docs/collect.md says of tables of an earlier version, with those of each commit that changed
// them. They become those of clickhouse.sql; nothing that is in them is lost or doubled, nor what comes meanwhile.
func TestTablesOfEarlierVersions(t *testing.T) {
	all := commits(t, "clickhouse.sql")
	if len(all) < 6 {
		t.Fatalf("only %d commits changed clickhouse.sql: is this the whole history?", len(all))
	}
	now := startClickHouse(t)
	now.runFile("clickhouse.sql")
	shape, upgraded := now.shape(true), now.shape(false)
	blocks := typed(t)
	for i, commit := range all {
		name := commit
		if i == 0 {
			name = "oldest" // which scripts/test-engines.sh takes with every version, and the others with one
		}
		t.Run(name, func(t *testing.T) {
			h := &history{clickHouse: startClickHouse(t)}
			for _, sql := range statements(ofCommit(t, commit, "clickhouse.sql")) {
				sql = strings.NewReplacer("stats.received", "tupleElement(stats, 'received')", "stats.lost", "tupleElement(stats, 'lost')", // what 24.8 takes
					"stats.late", "tupleElement(stats, 'late')", "stats.undecodable", "tupleElement(stats, 'undecodable')").Replace(sql)
				h.must(sql)
			}
			types := func(name string) {
				t.Helper()
				if err := h.shell(blocks[name], nil); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			h.insert(100)
			types("upgrade")
			h.insert(100)
			h.check("upgraded")
			if got := h.shape(false); got != upgraded {
				t.Errorf("upgraded:\n%s, want\n%s", got, upgraded)
			}
			types("make")
			for _, sql := range statements(blocks["move"]) {
				if strings.HasPrefix(sql, "INSERT INTO int.spare_copy") { // a part of the rows is not copied
					h.must("INSERT INTO int.spare_copy SELECT * FROM int.spare_reports LIMIT 20")
					if err := h.shell(blocks["drop"], nil); err == nil || !strings.Contains(err.Error(), "rows are missing in the copy") {
						t.Fatalf("dropped although rows are missing: %v", err)
					}
					h.must("TRUNCATE TABLE int.spare_copy")
				}
				h.must(sql)
				if !strings.HasPrefix(sql, "INSERT") {
					h.insert(10)
				}
			}
			h.check("rebuilt")
			types("drop")
			h.insert(10)
			h.check("afterwards")
			if got := h.shape(true); got != shape {
				t.Errorf("rebuilt:\n%s, want\n%s", got, shape)
			}
		})
	}
}

// TestProblemsOfEarlierVersions: the same of the table of problems.
func TestProblemsOfEarlierVersions(t *testing.T) {
	for _, commit := range commits(t, "clickhouse-problems.sql") {
		c := startClickHouse(t)
		c.must("CREATE DATABASE int")
		for _, sql := range statements(ofCommit(t, commit, "clickhouse-problems.sql")) {
			c.must(sql)
		}
		c.must("INSERT INTO int.problems (node, host, id, since, told) VALUES (1, 'a', 1, now() - 1000, now()), (1, 'a', 2, now() - 1000, now())")
		if err := c.shell(typed(t)["problems"], nil); err != nil {
			t.Fatal(err)
		}
		c.must("INSERT INTO int.problems (node, host, id, since, told) VALUES (1, 'a', 1, now(), now())") // a sink that counts anew
		if got := c.must("SELECT count() AS n FROM int.problems FINAL"); got != countRow(3)+"\n" {
			t.Errorf("%s: %s problems, want 3", commit, got)
		}
		if got := c.must("SELECT name FROM system.tables WHERE database = 'int' AND startsWith(name, 'spare_')"); got != "" {
			t.Errorf("%s: %s is left", commit, got)
		}
	}
}

// TestRecipesTellOfAllTables: what is dropped after a rebuild is what was made for it.
func TestRecipesTellOfAllTables(t *testing.T) {
	tables, err := os.ReadFile("clickhouse.sql")
	if err != nil {
		t.Fatal(err)
	}
	made := []string{"copy"}
	for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE IF NOT EXISTS int\.(\w+)`).FindAllStringSubmatch(string(tables), -1) {
		made = append(made, m[1])
	}
	_, list, _ := strings.Cut(typed(t)["drop"], "DROP TABLE ")
	list, _, _ = strings.Cut(list, "'")
	dropped := strings.Split(strings.ReplaceAll(list, "int.spare_", ""), ", ")
	slices.Sort(made)
	slices.Sort(dropped)
	if !slices.Equal(made, dropped) {
		t.Errorf("made are %v, dropped %v", made, dropped)
	}
}

// here is this folder.
func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
