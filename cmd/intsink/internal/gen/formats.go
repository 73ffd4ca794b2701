// The values of --encap that make telemetry other than INT: a line for each format.

package gen

import "slices"

var foreignEncapsulations = slices.Concat(ofIFA, ofIOAM)
