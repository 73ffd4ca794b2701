// Command store measures what ClickHouse pays for a row: it inserts blocks as intsink-collect sends them into the tables and views of
// one or more files, lets ClickHouse merge until nothing is left to merge, and divides the CPU time by the rows.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"intsink/bench/internal/results"
	"intsink/bench/internal/tool"
	"intsink/exporters/clickhouse"
)

func main() { tool.Main("store", run) }

// trial is what all rounds have in common.
type trial struct {
	engines, version string
	blocks           []string // files of format Native
	rows             int      // of all blocks
}

func run() error {
	engines := flag.String("engines", "bin/engines", "where make deps-engines installed ClickHouse")
	version := flag.String("version", "26.9", "of ClickHouse")
	schemas := flag.String("schemas", "deploy/collect/clickhouse.sql", "files with tables and views, separated by commas, which are measured in turns; several for one schema are joined by +")
	rows := flag.Int("rows", 2000000, "rows of each schema and round")
	block := flag.Int("block", 50000, "rows of a block")
	flows := flag.Uint64("flows", 100000, "flows of the network")
	perSecond := flag.Int64("rate", 50000, "reports a second of the network's time")
	rounds := flag.Int("rounds", 3, "rounds; each measures every schema once")
	flag.Parse()
	dir, err := os.MkdirTemp("", "intsink-store")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := trial{engines: *engines, version: *version, rows: *rows / *block * *block}
	network := newNetwork(*flows, *perSecond, time.Now().Add(-time.Hour).Truncate(10*time.Minute).UnixNano())
	for i := range *rows / *block {
		path := filepath.Join(dir, fmt.Sprintf("%04d.native", i))
		if err := os.WriteFile(path, network.block(*block), 0o600); err != nil {
			return err
		}
		t.blocks = append(t.blocks, path)
	}
	names := strings.Split(*schemas, ",")
	measured := make([][]result, len(names))
	for round := range *rounds {
		for i, name := range names {
			r, err := t.measure(name, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d, %s: inserted %.2f us a row, merged %.2f\n", round+1, name, r.insert, r.merge)
			measured[i] = append(measured[i], r)
		}
	}
	fmt.Print(table(names, measured))
	return nil
}

// result is the result of a schema: CPU time, microseconds a row.
type result struct {
	insert, merge float64
	parts         float64 // of all tables, before they are merged
	disk          string  // bytes a row of each table
}

// measure inserts all blocks while nothing is merged, and then merges.
func (t *trial) measure(schema, dir string) (r result, err error) {
	data := filepath.Join(dir, "data")
	defer os.RemoveAll(data)
	e, err := start(t.engines, t.version, data)
	if err != nil {
		return r, err
	}
	defer e.stop()
	for _, name := range strings.Split(schema, "+") {
		text, err := os.ReadFile(name)
		if err != nil {
			return r, err
		}
		if err := e.file(string(text)); err != nil {
			return r, err
		}
	}
	if _, err := e.query("SYSTEM STOP MERGES"); err != nil {
		return r, err
	}
	if r.insert, err = t.spent(e, func() error { return t.insert(e) }); err != nil {
		return r, err
	}
	if r.parts, err = e.number("SELECT toFloat64(count()) AS n FROM system.parts WHERE database = 'int' AND active"); err != nil {
		return r, err
	}
	if r.merge, err = t.spent(e, e.merge); err != nil {
		return r, err
	}
	r.disk, err = e.query(fmt.Sprintf("SELECT table, round(sum(bytes_on_disk) / %d, 1) AS bytes FROM system.parts WHERE database = 'int' AND active GROUP BY table ORDER BY bytes DESC, table LIMIT 6", t.rows))
	return r, err
}

// spent returns the CPU time that f takes, in microseconds a row.
func (t *trial) spent(e *engine, f func() error) (float64, error) {
	before, err := e.cpu()
	if err == nil {
		err = f()
	}
	if err != nil {
		return 0, err
	}
	after, err := e.cpu()
	return (after - before).Seconds() * 1e6 / float64(t.rows), err
}

// insert stores the blocks with the settings of collect.
func (t *trial) insert(e *engine) error {
	var settings []string
	for name, value := range clickhouse.Settings {
		if name != "async_insert" { // the library has no such queue
			settings = append(settings, name+" = "+value)
		}
	}
	slices.Sort(settings)
	for _, path := range t.blocks {
		if _, err := e.query(fmt.Sprintf("INSERT INTO int.reports FROM INFILE '%s' SETTINGS %s FORMAT Native", path, strings.Join(settings, ", "))); err != nil {
			return err
		}
	}
	return nil
}

// merge lets ClickHouse merge, until it has nothing to merge for two seconds.
func (e *engine) merge() error {
	if _, err := e.query("SYSTEM START MERGES"); err != nil {
		return err
	}
	parts := 0.0
	for quiet := 0; quiet < 4; quiet++ {
		time.Sleep(500 * time.Millisecond)
		n, err := e.number("SELECT toFloat64(count()) + 1000 * (SELECT count() FROM system.merges) AS n FROM system.parts WHERE database = 'int' AND active")
		if err != nil {
			return err
		}
		if n >= 1000 || n != parts {
			quiet = -1
		}
		parts = n
	}
	return nil
}

// table has a line for each schema: medians, least and most.
func table(names []string, measured [][]result) string {
	cells := [][]string{{"schema", "inserted, us a row", "merged, us a row", "sum", "parts"}}
	disk := ""
	for i, name := range names {
		of := func(value func(result) float64) string {
			var all []float64
			for _, r := range measured[i] {
				all = append(all, value(r))
			}
			slices.Sort(all)
			return fmt.Sprintf("%.2f (%.2f to %.2f)", all[len(all)/2], all[0], all[len(all)-1])
		}
		last := slices.MaxFunc(measured[i], func(a, b result) int { return cmp.Compare(a.parts, b.parts) })
		cells = append(cells, []string{name, of(func(r result) float64 { return r.insert }), of(func(r result) float64 { return r.merge }),
			of(func(r result) float64 { return r.insert + r.merge }), fmt.Sprintf("%.0f", last.parts)})
		disk += "\n" + name + ", bytes a row on disk:\n" + last.disk
	}
	return results.Table(cells) + disk
}
