package cli

import (
	"fmt"
	"os"

	"intsink/conf"
)

// LoadConfig reads the configuration for the commands that run it. Diagnostics
// go to stderr; the error has been printed.
func LoadConfig(path string) (*conf.Config, error) {
	return printed(path, conf.Load)
}

// LoadConfigAgain is LoadConfig of a file that is in force as old (conf.LoadAgain).
func LoadConfigAgain(path string, old *conf.Config) (*conf.Config, error) {
	return printed(path, func(path string) (*conf.Config, *conf.Diagnostics) { return conf.LoadAgain(path, old) })
}

// LoadConfigElsewhere is loadConfig for a configuration of another machine.
func LoadConfigElsewhere(path string) (*conf.Config, error) {
	return printed(path, conf.LoadElsewhere)
}

func printed(path string, load func(string) (*conf.Config, *conf.Diagnostics)) (*conf.Config, error) {
	c, diags := load(path)
	diags.WriteTo(os.Stderr)
	if c == nil {
		return nil, Failed(fmt.Errorf("%s is not valid: %s", path, Count(diags.Count(conf.Error), "error")))
	}
	return c, nil
}
