// Loads the configuration of a command, prints its diagnostics on stderr, tells
// whether it is valid.

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"intsink/conf"
)

// LoadConfigElsewhere reads a configuration that may be of another machine. Diagnostics go to
// stderr; the error has been printed.
func LoadConfigElsewhere(path string) (*conf.Config, error) {
	return printed(path, conf.LoadElsewhere)
}

// LoadConfigWithoutHosts is LoadConfigElsewhere for commands that need no collectors.
func LoadConfigWithoutHosts(path string) (*conf.Config, error) {
	return printed(path, conf.LoadWithoutHosts)
}

// printed prints the diagnostics of the configuration at path, which load reads, to stderr; the error is of
// one that is not valid.
func printed(path string, load func(string) (*conf.Config, *conf.Diagnostics)) (*conf.Config, error) {
	c, diags := load(path)
	Diagnose(os.Stderr, diags)
	if c == nil {
		return nil, NotValid(path, diags)
	}
	return c, nil
}

// NotValid returns the error of a command whose configuration is wrong. The caller has printed
// diags, the diagnostics of the file at path.
func NotValid(path string, diags *conf.Diagnostics) error {
	if diags.SHA256 == "" { // nothing could be read
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return Failed(errors.New("conf/examples/minimal.hcl is a configuration to begin with; packages have it in /usr/share/doc/intsink/examples"))
		}
		return Failed(fmt.Errorf("%s could not be read", path))
	}
	return Failed(fmt.Errorf("%s is not valid: %s", path, Count(diags.Count(conf.Error), "error")))
}
