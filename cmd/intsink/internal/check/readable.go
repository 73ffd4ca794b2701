// Files that other users of the machine should not read or write: keys, configurations with hashes of tokens.

package check

import (
	"fmt"
	"os"
	"path/filepath"

	"intsink/conf"
)

// exposed says which files of the configuration at path other users may read that have a secret in them, or may write.
func exposed(path string, c *conf.Config) (all []string) {
	files, _ := filepath.Glob(filepath.Join(path, "*.hcl")) // of a folder
	for _, f := range append(files, path) {
		info, err := os.Stat(f)
		switch {
		case err != nil || info.IsDir():
		case info.Mode().Perm()&0o002 != 0:
			all = append(all, fmt.Sprintf("everybody on this machine may write %s, and so says what the sink does: chmod o-w it", f))
		case len(c.HTTP.Tokens) > 0 && info.Mode().Perm()&0o004 != 0:
			all = append(all, fmt.Sprintf("everybody on this machine can read %s, with the hashes of tokens, and try guesses: chmod o-r it, for root and the sink's group", f))
		}
	}
	if t := c.HTTP.TLS; t != nil {
		if info, err := os.Stat(t.Key); err == nil && info.Mode().Perm()&0o006 != 0 {
			all = append(all, fmt.Sprintf("everybody on this machine can read the key %s of http.tls: chmod o-rw it, and make another: this one is known", t.Key))
		}
	}
	return all
}
