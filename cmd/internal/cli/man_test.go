package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestManPages(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "does things", Long: "First.\n\n.second begins with a full stop.", Version: "1.0"}
	run := &cobra.Command{Use: "run --config FILE", Short: "Run it", Long: `Run it with C:\path.`, Example: "  tool run --config a.hcl", Run: func(*cobra.Command, []string) {}}
	run.Flags().String("config", "x.hcl", "configuration file")
	root.AddCommand(run, NewManCommand(root))
	dir := t.TempDir()
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"tool.1":     {`.TH "TOOL" 1 "" "tool 1.0" "intsink manual"`, `tool \- does things`, "First.\n.PP\n\\&.second", ".BR tool\\-run (1)\n"},
		"tool-run.1": {`Run it with C:\epath.`, ".TP\n.B \\-\\-config\nconfiguration file (default x.hcl)\n", "  tool run \\-\\-config a.hcl", ".BR tool (1)\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		for _, w := range want {
			if err != nil || !strings.Contains(string(text), w) {
				t.Errorf("%s: %v, lacks %q:\n%s", name, err, w, text)
			}
		}
	}
	if pages, _ := filepath.Glob(filepath.Join(dir, "*")); len(pages) != 2 {
		t.Errorf("pages %v, want two: none of the hidden command", pages)
	}
}
