// Calls all checks of more than one attribute in their order; looks up names of ports and
// collectors.

package conf

import (
	"slices"

	"intsink/conf/schema"
)

// checker checks the configuration that was read from one file.
type checker struct{ *schema.File }

// check makes the checks that take more than one attribute of a file.
func (d checker) check(c *Config, m machine) {
	d.checkLcores(c, m)
	d.checkPorts(c)
	d.checkLinks(c)
	d.checkMbufs(c)
	d.checkMemory(c, m)
	d.checkINTs(c)
	d.checkNodeModels(c)
	d.checkEvents(&c.Events, nil, "events")
	d.checkWatches(c)
	d.checkReport(c)
	d.checkProfile(c)
	d.checkCollectors(c)
	d.checkOverload(c)
	d.checkHTTP(c)
	d.checkNotify(c)
}

func portNames(c *Config) []string {
	var names []string
	for i := range c.Ports {
		if c.Ports[i].Name != "" {
			names = append(names, c.Ports[i].Name)
		}
	}
	return names
}

func collectorNames(c *Config) []string {
	var names []string
	for i := range c.Collectors {
		if c.Collectors[i].Name != "" {
			names = append(names, c.Collectors[i].Name)
		}
	}
	return names
}

// checkKnown reports name if it is not one of known; what is the kind of thing it names, such
// as "port".
func (d checker) checkKnown(key any, where, name, what string, known []string) {
	if name == "" || slices.Contains(known, name) {
		return // an empty name has been reported as missing
	}
	hint := schema.DidYouMean(name, known, "%q")
	switch {
	case hint != "":
	case len(known) == 0:
		hint = "; there is no " + what + " block"
	default:
		hint = "; there is " + schema.SomeOf(known)
	}
	d.ErrorAt([]any{key}, "%s: no %s is called %q%s", where, what, schema.Short(name), hint)
}
