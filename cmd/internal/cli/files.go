// Distinct: two flags must not name one file.

package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// FileFlag is a flag that names a file.
type FileFlag struct{ Flag, Path string }

// Distinct fails where two flags name one file: what is written would destroy
// what is read, or be written twice over each other. Empty paths are not given.
func Distinct(files ...FileFlag) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if a.Path != "" && b.Path != "" && oneFile(a.Path, b.Path) {
				return fmt.Errorf("--%s and --%s are the same file, %s: name two", b.Flag, a.Flag, a.Path)
			}
		}
	}
	return nil
}

// oneFile follows links; a file that does not exist yet is identified by its folder.
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
