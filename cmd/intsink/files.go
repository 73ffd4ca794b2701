package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// fileFlag is a flag that names a file.
type fileFlag struct{ flag, path string }

// distinct fails where two flags name one file: what is written would destroy
// what is read, or be written twice over each other. Empty paths are not given.
func distinct(files ...fileFlag) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if a.path != "" && b.path != "" && oneFile(a.path, b.path) {
				return fmt.Errorf("--%s and --%s are the same file, %s: name two", b.flag, a.flag, a.path)
			}
		}
	}
	return nil
}

// oneFile follows links; a file that is not there yet is told by its folder.
func oneFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib) && ia.Mode().IsRegular()
	}
	return errA != nil && errB != nil && resolved(a) == resolved(b)
}

func resolved(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, filepath.Base(path))
}
