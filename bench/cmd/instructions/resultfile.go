//go:build linux && amd64

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
)

// file is what is committed: instructions per packet by GOAMD64 level and row.
type file struct {
	Go     string                        `json:"go"` // that counted last
	Levels map[string]map[string]float64 `json:"levels"`
}

func readFile(path string) (f file, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// update replaces the counts of level; rows that were not counted stay.
func (f file) update(path, level string, counts map[string]float64) error {
	if f.Levels == nil {
		f.Levels = map[string]map[string]float64{}
	}
	if f.Levels[level] == nil {
		f.Levels[level] = map[string]float64{}
	}
	for row, n := range counts {
		f.Levels[level][row] = math.Round(n*10) / 10
	}
	f.Go = runtime.Version()
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// compare fails where a row grew by limit percent or more, or is not in the file.
func (f file) compare(level string, counts map[string]float64, limit float64) error {
	var errs []error
	for _, row := range slices.Sorted(maps.Keys(counts)) {
		was, is := f.Levels[level][row], counts[row]
		if was == 0 {
			errs = append(errs, fmt.Errorf("%s: no count for GOAMD64=%s is committed: make bench-check UPDATE=1", row, level))
		} else if growth := percent(was, is); growth >= limit {
			errs = append(errs, fmt.Errorf("%s: %.1f instructions per packet, %.1f committed: %+.1f %%, the limit is %g %%", row, is, was, growth, limit))
		}
	}
	if errs != nil && f.Go != runtime.Version() {
		errs = append(errs, fmt.Errorf("the committed counts are of %s, this is %s: compare the same compiler before blaming the code", f.Go, runtime.Version()))
	}
	return errors.Join(errs...)
}

// checkAgainst compares rows with the rows named by their field against, and returns an error for
// each that costs too much. Both are of the same packets: whatever makes one dearer makes the
// other dearer, too.
func checkAgainst(rows []row, counts map[string]float64) error {
	var errs []error
	for _, r := range rows {
		is, of := counts[r.name], counts[r.against]
		if of > 0 && is > hostileMost*of {
			errs = append(errs, fmt.Errorf("%s: %.1f instructions per packet, %.2f times %s: the limit is %g times", r.name, is, is/of, r.against, hostileMost))
		}
	}
	return errors.Join(errs...)
}

func percent(was, is float64) float64 { return (is/was - 1) * 100 }

// change tells how is compares with what was committed, if anything was.
func change(was, is float64) string {
	if was == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f committed, %+.1f %%)", was, percent(was, is))
}

// buildLevel returns the GOAMD64 that this program was built for.
func buildLevel() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GOAMD64" {
				return s.Value
			}
		}
	}
	return "v1"
}
