package flows

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSizesAreAsDocumented: operators plan memory by what the documents say of a flow.
func TestSizesAreAsDocumented(t *testing.T) {
	for file, text := range map[string]string{
		"../docs/configuration.md": "each takes %d bytes at start, %d more once it has events, and %d more where its packets are numbered",
		"../ARCHITECTURE.md":       "`flows.capacity` x %d bytes for flows, all there from the start, in huge pages of its own where the kernel has some; a packet reads one line of its flow and writes another; %d more for each that has had an event of its own, and %d where its packets are numbered",
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(text, Bytes, SideBytes, SequenceBytes); !strings.Contains(strings.Join(strings.Fields(string(b)), " "), want) {
			t.Errorf("%s does not say: %s", file, want)
		}
	}
}
