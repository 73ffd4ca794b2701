package installed_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/command"
)

// TestArgumentsThatAreNone: one line, which says what was meant.
func TestArgumentsThatAreNone(t *testing.T) {
	for args, want := range map[string]string{
		"check x.hcl":                      `check takes flags only, and "x.hcl" is none: did you mean --config x.hcl?`,
		"run x.hcl":                        `--config x.hcl?`,
		"replay a.pcap":                    `replay takes flags only`,
		"plan a.pcap":                      `plan takes flags only`,
		"gen a.pcap":                       `did you mean --out a.pcap?`,
		"why":                              `why explains one flow, and 0 are named: intsink why tcp:`,
		"why a b":                          `and 2 are named`,
		"decode --port x f":                `--port "x": must be a whole number from 0 to 65535`,
		"check":                            "intsink: check needs --config or --fleet or --example: intsink check --",
		"plan":                             "intsink: plan needs --config and --in: intsink plan --config intsink.hcl --in trace.pcap\n",
		"replay --in x":                    "intsink: replay needs --config, --out and --reports: intsink replay --config",
		"collect":                          "intsink: collect needs --config: intsink collect --config",
		"plan --config":                    "--config needs a value behind it: configuration: a file",
		"plan --cofnig x":                  "there is no flag --cofnig; did you mean --config?; intsink plan --help lists them",
		"plan -q":                          "there is no flag -q; intsink plan --help lists them",
		"plna":                             `there is no command "plna"; did you mean plan?; intsink --help lists them`,
		"mitigate lst":                     `there is no command "lst"; did you mean list?; intsink mitigate --help lists them`,
		"mitigate remove":                  "remove takes one ID, and 0 are named: intsink mitigate remove 1",
		"top a b":                          "top takes one VIEW at most, and 2 are named: intsink top",
		"version x":                        `version takes flags only, and "x" is none; intsink version --help lists them`,
		"mitigate remove x":                `"x" is no rule's ID, which is a number: intsink mitigate list shows them`,
		"help plna":                        `there is no command "plna"; did you mean plan?; intsink --help lists them`,
		"help mitigate lst":                `there is no command "lst"; did you mean list?; intsink mitigate --help lists them`,
		"help plan x":                      `intsink plan has no commands below it, and so no "x"; intsink plan --help is all there is`,
		"completion fsh":                   `there is no shell "fsh": bash, zsh, fish or powershell`,
		"status --config a --url http://b": "--config and --url: leave all but one out",
	} {
		t.Run(args, func(t *testing.T) {
			_, stderr, code := sinktest.Run(t, strings.Fields(args)...)
			if code != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit code %d, %q", args, code, stderr)
			}
		})
	}
}

// TestHelpOfACommand is what --help behind it prints.
func TestHelpOfACommand(t *testing.T) {
	for _, command := range []string{"", "plan", "mitigate", "mitigate add", "help"} {
		t.Run(command, func(t *testing.T) {
			if a, b := sinktest.Must(t, strings.Fields("help "+command)...), sinktest.Must(t, strings.Fields(command+" --help")...); a != b || a == "" {
				t.Errorf("help prints\n%s--help prints\n%s", a, b)
			}
		})
	}
}

// TestWrongUsageIsInOurWords: no command leaves what is wrong with its arguments to cobra.
func TestWrongUsageIsInOurWords(t *testing.T) {
	theirs := regexp.MustCompile(`unknown command|accepts (at most )?\d|requires at|required flag|in the group`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "completion" { // cobra's own
			return
		}
		for _, args := range [][]string{nil, {"a", "b"}} {
			err := c.Args(c, args)
			if err == nil {
				err = errors.Join(c.ValidateRequiredFlags(), c.ValidateFlagGroups())
			}
			if err != nil && theirs.MatchString(err.Error()) {
				t.Errorf("%s %q: %v", c.CommandPath(), args, err)
			}
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(command.New("devel"))
}
