// instance: the number by which collectors know this sink again, kept in the state folder.

package appliance

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"

	"intsink/cmd/internal/statefile"
	"intsink/internal/plainfile"
)

// instanceFile is the name of the file in the folder that systemd gives the sink for its state.
const instanceFile = "instance"

// instance returns the number of this sink (report.Identity): the one in the state folder, where the first
// start leaves it. Without a folder, as in a container, each start has its own, and collectors take it for
// another sink under the same node id.
func instance(getenv func(string) string, log *slog.Logger) uint64 {
	fresh := max(randomSeed(), 1)
	dir := statefile.Dir(getenv)
	if dir == "" {
		return fresh
	}
	path := filepath.Join(dir, instanceFile)
	if text, err := plainfile.Read(path); err == nil {
		kept, err := strconv.ParseUint(strings.TrimSpace(string(text)), 16, 64)
		if err == nil && kept != 0 {
			return kept
		}
		log.Warn("the number of this sink cannot be read: it gets a new one, and collectors take it for another sink", "file", path)
	}
	if err := statefile.Whole(path, fmt.Appendf(nil, "%016x\n", fresh)); err != nil {
		log.Warn("the number of this sink is not kept: collectors take it for another one after the next start", "file", path, "err", err)
	}
	return fresh
}
