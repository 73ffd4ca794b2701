// Load: loads the configuration of replay and plan, which needs a link; the longest frame,
// and why packets are not taken as they are.

package simulate

import (
	"fmt"

	"intsink/cmd/internal/cli"
	"intsink/conf"
)

// Load loads a configuration that has a link: command takes the place of its ports.
func Load(path, command string) (*conf.Config, error) {
	c, err := cli.LoadConfigElsewhere(path)
	if err == nil && len(c.Links) == 0 {
		err = cli.Failed(fmt.Errorf("%s: %s needs a link block: it takes the place of the first link's ports", path, command))
	}
	return c, err
}

// MaxFrame is the longest frame that fits the 16 bits that DPDK's pcap driver
// has for a length.
const MaxFrame = 65535

// ReportMbufs are enough for the report packets of one packet.
const ReportMbufs = 2048

// Why packets are not taken as they are.
const (
	TooLong   = "are longer than 65535 bytes, which DPDK cannot carry, and are left out"
	Backwards = "have an earlier time than one before them and were given the latest time so far"
)
