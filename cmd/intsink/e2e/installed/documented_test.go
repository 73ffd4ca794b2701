package installed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"intsink/cmd/intsink/internal/command"
)

// invocation is a command line of ours in a document.
type invocation struct {
	where string // file and line
	args  []string
	whole bool // of a block, to be typed as it is; else a part of a sentence, which may leave out what is needed
}

// shellBlocks are the languages of blocks whose lines are typed, all or those behind a prompt.
var shellBlocks = map[string]bool{"": true, "sh": true, "shell": true, "bash": true, "console": true}

var (
	inlineCode = regexp.MustCompile("`([^`]+)`")
	prompt     = regexp.MustCompile(`^\s*[#$] (\S.*)`)
	separators = regexp.MustCompile(`\|\||&&|[|;]|\$\(`)
	word       = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
)

// invocations are those of intsink and intsink-collect in a document.
func invocations(path, text string) (all []invocation) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		language, opens := strings.CutPrefix(strings.TrimSpace(lines[i]), "```")
		if !opens {
			for _, code := range inlineCode.FindAllStringSubmatch(lines[i], -1) {
				all = append(all, commandsIn(fmt.Sprintf("%s:%d", path, i+1), code[1], false)...)
			}
			continue
		}
		first := i + 1
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
		}
		if shellBlocks[language] {
			all = append(all, ofBlock(path, first, lines[first:i])...)
		}
	}
	return all
}

// ofBlock returns the invocations of a block that begins at line first: the lines with a prompt
// or, in a block that has none and is no output, all lines.
func ofBlock(path string, first int, lines []string) (all []invocation) {
	prompts := false
	for _, line := range lines {
		prompts = prompts || prompt.MatchString(line)
	}
	for i := 0; i < len(lines); i++ {
		where, line := fmt.Sprintf("%s:%d", path, first+i+1), lines[i]
		if m := prompt.FindStringSubmatch(line); m != nil {
			line = m[1]
		} else if prompts {
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + " " + lines[i]
		}
		if code, _, _ := strings.Cut(line, "  # "); code != "" {
			line = code
		}
		all = append(all, commandsIn(where, line, true)...)
	}
	return all
}

// commandsIn are those of one line of a shell.
func commandsIn(where, line string, whole bool) (all []invocation) {
	for _, part := range separators.Split(line, -1) {
		words := word.FindAllString(part, -1)
		for len(words) > 0 && (words[0] == "sudo" || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
		if len(words) == 0 || !ours(words[0]) {
			continue
		}
		v := invocation{where: where, whole: whole}
		for _, w := range words[1:] {
			if strings.HasPrefix(w, ">") || strings.HasPrefix(w, "2>") || w == "&" || w == "<" || w == "..." {
				break
			}
			if optional := strings.Trim(w, "[]"); optional != w {
				w, v.whole = optional, false
			}
			v.args = append(v.args, strings.Trim(w, `'"`))
		}
		all = append(all, v)
	}
	return all
}

func ours(program string) bool {
	name := filepath.Base(program)
	return name == "intsink" || name == "intsink-collect"
}

// fault says what is wrong with v; "": it could be typed.
func (v *invocation) fault() string {
	root := command.New("devel")
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(v.args)
	if err != nil {
		return err.Error()
	}
	if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Sprintf("there is no command %q", rest[0])
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if !v.whole {
		return unknownFlag(c, rest)
	}
	if err := c.ParseFlags(rest); err != nil {
		return err.Error()
	}
	if help, _ := c.Flags().GetBool("help"); help || !c.Runnable() {
		return ""
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err.Error()
	}
	return ""
}

// unknownFlag names the first flag that c has not.
func unknownFlag(c *cobra.Command, args []string) string {
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		long, isLong := strings.CutPrefix(name, "--")
		var f *pflag.Flag
		switch {
		case isLong && long != "":
			f = c.Flag(long)
		case len(name) == 2 && name[0] == '-' && name[1] != '-':
			f = c.Flags().ShorthandLookup(name[1:])
		default:
			continue
		}
		if f == nil {
			return fmt.Sprintf("%s has no flag %s", c.CommandPath(), name)
		}
	}
	return ""
}

// TestDocumentedCommands: each command line of ours in README and docs has a command that there
// is, with flags that it has and arguments that it takes.
func TestDocumentedCommands(t *testing.T) {
	paths := []string{"../../../../README.md", "../../../../CHANGELOG.md", "../../../../ARCHITECTURE.md", "../../../../CONTRIBUTING.md", "../../../../conf/README.md"}
	for _, pattern := range []string{"../../../../docs/*.md", "../../../../deploy/*.md", "../../../../deploy/*/*.md", "../../../../bench/*.md", "../../../../cmd/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	whole, inline := 0, 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range invocations(path, string(text)) {
			if v.whole {
				whole++
			} else {
				inline++
			}
			if fault := v.fault(); fault != "" {
				t.Errorf("%s: intsink %s: %s", v.where, strings.Join(v.args, " "), fault)
			}
		}
	}
	t.Logf("%d command lines and %d parts of them", whole, inline)
	if whole < 30 || inline < 100 {
		t.Errorf("%d command lines and %d parts of them were found: too few to be all", whole, inline)
	}
}

// TestExamplesOfHelp: each line of the examples in --help can be typed.
func TestExamplesOfHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			for _, v := range commandsIn(c.CommandPath()+" --help", line, true) {
				if fault := v.fault(); fault != "" {
					t.Errorf("%s: %s: %s", v.where, line, fault)
				}
			}
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(command.New("devel"))
}

// TestInvocationsAreFound, and faults in them.
func TestInvocationsAreFound(t *testing.T) {
	for _, c := range []struct{ name, text, args, fault string }{
		{"in a sentence", "ask `intsink check --config FILE` first", "check --config FILE", ""},
		{"a flag that is gone", "ask `intsink check --cfg FILE`", "check --cfg FILE", "intsink check has no flag --cfg"},
		{"a command that is gone", "`intsink blame X`", "blame X", `there is no command "blame"`},
		{"a block", "```sh\nintsink mode strip\n```", "mode strip", ""},
		{"behind a prompt", "```\n# intsink mode \\\n  --format json\nintsink devel  node 3\n```", "mode --format json", ""},
		{"in a pipe", "```\ntcpdump -w - | intsink decode --format text - > out.txt\n```", "decode --format text -", ""},
		{"a value that is wrong", "```\n$ intsink capture -w x --count many\n```", "capture -w x --count many", `invalid argument "many"`},
		{"what is missing", "```\n$ intsink plan --in x\n```", "plan --in x", "needs --config"},
		{"alternatives", "`intsink mitigate add|list|remove`", "mitigate add", ""},
		{"another block", "```hcl\nintsink x\n```", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := invocations("x.md", c.text)
			if c.args == "" && len(all) == 0 {
				return
			}
			if len(all) != 1 || strings.Join(all[0].args, " ") != c.args {
				t.Fatalf("%+v, want %s", all, c.args)
			}
			if fault := all[0].fault(); !strings.Contains(fault, c.fault) || c.fault == "" && fault != "" {
				t.Errorf("%q, want %q", fault, c.fault)
			}
		})
	}
}
