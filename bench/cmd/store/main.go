// Command store measures what ClickHouse pays for a row: it inserts blocks as intsink-collect sends them into the tables and views of
// one or more files, lets ClickHouse merge until nothing is left to merge, and divides the CPU time by the rows. With --pace blocks come
// so fast, and ClickHouse merges meanwhile, as a server does.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	pace             int // rows a second; 0: nothing is merged until all blocks are there
	rows             int // of all blocks
}

// candidate is what is measured in turns with others: a schema, and blocks of some size.
type candidate struct {
	schema string
	block  int      // rows
	blocks []string // files of format Native
}

func (c *candidate) String() string { return fmt.Sprintf("%s, blocks of %d", c.schema, c.block) }

func run() error {
	engines := flag.String("engines", "bin/engines", "where make deps-engines installed ClickHouse")
	version := flag.String("version", "26.9", "of ClickHouse")
	schemas := flag.String("schemas", "deploy/collect/clickhouse.sql", "files with tables and views, separated by commas, which are measured in turns; several for one schema are joined by +")
	rows := flag.Int("rows", 2000000, "rows of each schema and round")
	sizes := flag.String("block", "200000", "rows of a block; several, separated by commas, are measured in turns")
	pace := flag.Int("pace", 0, "rows a second that come while ClickHouse merges; 0: as fast as they go in, and nothing is merged before all are there")
	flows := flag.Uint64("flows", 100000, "flows of the network")
	perSecond := flag.Int64("rate", 50000, "reports a second of the network's time")
	rounds := flag.Int("rounds", 3, "rounds; each measures every schema once")
	flag.Parse()
	dir, err := os.MkdirTemp("", "intsink-store")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := trial{engines: *engines, version: *version, pace: *pace}
	var candidates []candidate
	for size := range strings.SplitSeq(*sizes, ",") {
		block, err := strconv.Atoi(size)
		if err != nil || block < 1 || *rows%block != 0 {
			return fmt.Errorf("--block %s: %d rows are not so many whole blocks", size, *rows)
		}
		network := newNetwork(*flows, *perSecond, time.Now().Add(-time.Hour).Truncate(10*time.Minute).UnixNano())
		blocks, err := network.write(filepath.Join(dir, size), *rows/block, block)
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(*schemas, ",") {
			candidates = append(candidates, candidate{name, block, blocks})
		}
	}
	t.rows = *rows
	measured := make([][]result, len(candidates))
	for round := range *rounds {
		for i := range candidates {
			r, err := t.measure(&candidates[i], dir)
			if err != nil {
				return fmt.Errorf("%s: %w", &candidates[i], err)
			}
			fmt.Fprintf(os.Stderr, "round %d, %s: inserted %.2f us a row, merged %.2f\n", round+1, &candidates[i], r.insert, r.merge)
			measured[i] = append(measured[i], r)
		}
	}
	fmt.Print(table(candidates, measured))
	return nil
}

// result is the result of a schema: CPU time, microseconds a row.
type result struct {
	insert, merge float64 // with a pace, insert has what was merged meanwhile
	times         float64 // that a row of any table was merged, for each row that came
	parts         float64 // of all tables, before they are merged
	disk          string  // bytes a row of each table
}

// measure inserts all blocks, while nothing is merged if there is no pace, and then merges.
func (t *trial) measure(c *candidate, dir string) (r result, err error) {
	data := filepath.Join(dir, "data")
	defer os.RemoveAll(data)
	e, err := start(t.engines, t.version, data)
	if err != nil {
		return r, err
	}
	defer e.stop()
	for _, name := range strings.Split(c.schema, "+") {
		text, err := os.ReadFile(name)
		if err != nil {
			return r, err
		}
		if err := e.file(string(text)); err != nil {
			return r, err
		}
	}
	if t.pace == 0 {
		if _, err := e.query("SYSTEM STOP MERGES"); err != nil {
			return r, err
		}
	}
	if r.insert, err = t.spent(e, func() error { return t.insert(e, c) }); err != nil {
		return r, err
	}
	if r.parts, err = e.number("SELECT toFloat64(count()) AS n FROM system.parts WHERE database = 'int' AND active"); err != nil {
		return r, err
	}
	if r.merge, err = t.spent(e, e.merge); err != nil {
		return r, err
	}
	times, err := e.number("SELECT toFloat64(sum(value)) AS n FROM system.events WHERE event = 'MergedRows'")
	if err != nil {
		return r, err
	}
	r.times = times / float64(t.rows)
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
func (t *trial) insert(e *engine, c *candidate) error {
	var settings []string
	for name, value := range clickhouse.Settings {
		if name != "async_insert" { // the library has no such queue
			settings = append(settings, name+" = "+value)
		}
	}
	slices.Sort(settings)
	begin := time.Now()
	for i, path := range c.blocks {
		if t.pace > 0 { // a block is sent when its last row is there
			time.Sleep(time.Until(begin.Add(time.Second * time.Duration((i+1)*c.block) / time.Duration(t.pace))))
		}
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
func table(candidates []candidate, measured [][]result) string {
	cells := [][]string{{"schema", "inserted, us a row", "merged, us a row", "sum", "rows merged for a row", "parts"}}
	disk := ""
	for i := range candidates {
		name := candidates[i].String()
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
			of(func(r result) float64 { return r.insert + r.merge }),
			of(func(r result) float64 { return r.times }), fmt.Sprintf("%.0f", last.parts)})
		disk += "\n" + name + ", bytes a row on disk:\n" + last.disk
	}
	return results.Table(cells) + disk
}
