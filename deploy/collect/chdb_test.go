//go:build engines

package collect

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"intsink/exporters/record"
)

// clickHouse is a server inside of a process of its own.
type clickHouse struct {
	t    *testing.T
	dir  string // of its data
	in   io.WriteCloser
	out  *bufio.Reader
	stop func()
}

// engines is where scripts/deps-engines.sh puts what these tests need.
func engines(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("INTSINK_ENGINES")
	if dir == "" {
		dir = filepath.Join("..", "..", "bin", "engines")
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: make deps-engines installs it", err)
	}
	return path
}

// version is that of the ClickHouse that the tests run with: INTSINK_CLICKHOUSE, one that scripts/deps-engines.sh installs, else 26.7.
func version() string {
	if v := os.Getenv("INTSINK_CLICKHOUSE"); v != "" {
		return v
	}
	return ofNode
}

// ofNode is the version that is a library for Node; the others are some for Python.
const ofNode = "26.7"

func startClickHouse(t *testing.T) *clickHouse {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("node", filepath.Join("testdata", "chdb.js"), dir)
	cmd.Env = append(os.Environ(), "NODE_PATH="+engines(t, "chdb/node_modules"))
	if version() != ofNode {
		cmd = exec.Command("/usr/bin/python3", filepath.Join("testdata", "chdb.py"), dir)
		cmd.Env = append(os.Environ(), "CLICKHOUSE="+engines(t, "clickhouse-"+version()))
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &clickHouse{t: t, dir: dir, in: in, out: bufio.NewReaderSize(out, 1<<20), stop: func() {
		in.Close()
		cmd.Wait()
	}}
	t.Cleanup(c.stop)
	if got := c.must("SELECT version() AS v"); !strings.Contains(got, `"`+version()+".") {
		t.Fatalf("this is ClickHouse %s, not %s", got, version())
	}
	return c
}

// query returns the rows as JSON objects, one a line.
func (c *clickHouse) query(sql string) (string, error) {
	c.t.Helper()
	b, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("ClickHouse ended: %v", err)
	}
	var answer struct{ Text, Error string }
	if err := json.Unmarshal(line, &answer); err != nil {
		c.t.Fatalf("%v: %s", err, line)
	}
	if answer.Error != "" {
		return "", &queryError{answer.Error}
	}
	return answer.Text, nil
}

type queryError struct{ text string }

func (e *queryError) Error() string { return e.text }

// must is query of what cannot fail.
func (c *clickHouse) must(sql string) string {
	c.t.Helper()
	text, err := c.query(sql)
	if err != nil {
		c.t.Fatalf("%v\n%s", err, sql)
	}
	return text
}

var comments = regexp.MustCompile(`(?m)--.*$`)

// statements are those of a text, without its comments.
func statements(text string) (all []string) {
	for _, sql := range strings.Split(comments.ReplaceAllString(text, ""), ";") {
		if sql = strings.TrimSpace(sql); sql != "" {
			all = append(all, sql)
		}
	}
	return all
}

// runFile runs the statements of a file in this folder.
func (c *clickHouse) runFile(name string, replace ...string) {
	c.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, sql := range statements(strings.NewReplacer(replace...).Replace(string(b))) {
		c.must(sql)
	}
}

// insertColumns stores records as columns, as collect does over HTTP.
func (c *clickHouse) insertColumns(records *record.Columns) {
	c.t.Helper()
	records.Seal()
	block := record.AppendNative(nil, record.Rows{Of: records, To: records.Len()})
	path := filepath.Join(c.t.TempDir(), "records.native")
	if err := os.WriteFile(path, block, 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.must("INSERT INTO int.reports FROM INFILE '" + path + "' SETTINGS input_format_skip_unknown_fields = 1, optimize_on_insert = 0 FORMAT Native")
}

// insert stores records from JSON.
func (c *clickHouse) insert(records []byte) {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), "records.json")
	if err := os.WriteFile(path, records, 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.must("INSERT INTO int.reports SETTINGS date_time_input_format = 'best_effort' SELECT * FROM file('" + path + "', 'JSONEachRow')")
}

// schema puts intsink.proto where the server looks for schemas of protobuf.
func (c *clickHouse) schema() {
	c.t.Helper()
	dir := filepath.Join(c.dir, "format_schemas")
	b, err := os.ReadFile("intsink.proto")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "intsink.proto"), b, 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}
