package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository's folder, seen from this package's.
const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// documents are all Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			all = append(all, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil || len(all) < 3 {
		t.Fatalf("found %v, %v", all, err)
	}
	return all
}

var (
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):.*## .`)
	makeCommand = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z-]*)\\b")
	subcommand  = regexp.MustCompile("(?m)(?:^bin/|`bin/|`)intsink ([a-z]+)\\b")
	link        = regexp.MustCompile(`\]\(([^)#\s]+)`)
)

func TestMakeTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	for _, want := range []string{"deps", "build", "demo", "test", "bench", "fuzz", "lint"} {
		if !targets[want] {
			t.Errorf("Makefile has no target %s with a ## line", want)
		}
	}
	for _, doc := range documents(t) {
		for _, m := range makeCommand.FindAllStringSubmatch(read(t, doc), -1) {
			if !targets[m[1]] {
				t.Errorf("%s names `make %s`, which the Makefile does not have", doc, m[1])
			}
		}
	}
}

func TestSubcommandsExist(t *testing.T) {
	help, err := exec.Command("go", "run", module+"/cmd/intsink", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, help)
	}
	for _, doc := range documents(t) {
		for _, m := range subcommand.FindAllStringSubmatch(read(t, doc), -1) {
			if !regexp.MustCompile(`(?m)^  ` + m[1] + `\b`).Match(help) {
				t.Errorf("%s names `intsink %s`, which --help does not", doc, m[1])
			}
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, doc), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
			}
		}
	}
}

func TestScriptsAreExecutable(t *testing.T) {
	for _, path := range []string{".ci/run", "scripts/deps.sh", "scripts/go.sh", "scripts/test.sh", "scripts/fuzz.sh", "scripts/lint.sh", "scripts/fresh.sh"} {
		s, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", path)
		}
		if out, err := exec.Command("bash", "-n", filepath.Join(root, path)).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", path, out)
		}
	}
}

// TestEachPackageHasARow: the map of ARCHITECTURE.md has each package, but those whose names end in test. A name without a folder
// stands beside the one in front of it.
func TestEachPackageHasARow(t *testing.T) {
	rows, _, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "### Who may import whom")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(rows, -1) {
		folder := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			name := m[1]
			if !strings.Contains(name, "/") && folder != "" {
				name = folder + "/" + name
			}
			if at := strings.LastIndexByte(name, '/'); at >= 0 {
				folder = name[:at]
			}
			named = append(named, name)
		}
	}
	there := map[string]bool{}
	for _, p := range listPackages(t) {
		name := ours(p.ImportPath)
		there[name] = true
		if !strings.HasSuffix(name, "test") && !slices.ContainsFunc(named, func(pattern string) bool { return matches(name, pattern) }) {
			t.Errorf("ARCHITECTURE.md has no row for %s", name)
		}
	}
	for _, name := range named {
		if !there[name] && !strings.HasSuffix(name, "...") && !strings.HasSuffix(name, "test") {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is no package", name)
		}
	}
}

// TestPagesNameTests: each test that the pages of attackers and of faults name is there.
func TestPagesNameTests(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			b, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(b, -1) {
				tests[string(m[1])] = true
			}
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"docs/security.md", "docs/reliability.md"} {
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(read(t, page), -1)
		for _, m := range named {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which is no test", page, m[1])
			}
		}
		if len(named) < 30 {
			t.Errorf("%s names %d tests", page, len(named))
		}
	}
}
