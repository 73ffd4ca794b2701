package repotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "intsink"

// mayNotImport are the rules of direction: what of ours each package must not import, tests
// aside, but for the exceptions. A pattern that ends in ... means everything below.
var mayNotImport = []struct {
	pkg, imports, except string
}{
	{"engine...", "cmd/...", ""},
	{"engine...", "conf...", ""},
	{"engine...", "exporters...", ""},
	{"engine/stage/...", "engine/stage/...", ""},
	{"engine/aside...", "engine/stage/...", ""},
	{"engine/burst", "engine/aside...", ""},
	{"engine/burst", "engine/stage/...", ""},
	{"engine/event", "engine/burst", ""},
	{"engine/fast", "engine/burst", ""},
	{"engine/reporting", "engine/burst", ""},
	{"engine/watch", "engine/burst", ""},
	{"engine/wire/...", "engine/burst", ""},
	{"engine/wire/packet", "...", ""},
	{"engine/wire/intgen", "...", ""},
	{"flows", "...", "internal/..."},
	{"dpdk/...", "...", "dpdk/...,internal/..."},
	{"conf...", "...", "conf...,internal/ranges,internal/plainfile"},
	{"exporters...", "cmd/...", ""},
	{"exporters...", "conf...", ""},
	{"exporters/collect...", "dpdk/...", ""},
	{"exporters/kafka...", "dpdk/...", ""},
	{"exporters/clickhouse...", "dpdk/...", ""},
	{"exporters/ipfix...", "dpdk/...", ""},
	{"exporters/jsonl...", "dpdk/...", ""},
	{"cmd/internal/...", "cmd/intsink/...", ""},
	{"cmd/intsink/internal/observe", "cmd/intsink/...", "cmd/intsink/internal/control,cmd/intsink/internal/part,cmd/intsink/internal/sharing"},
	{"cmd/intsink/internal/observe", "engine...", "engine/metric,engine/histogram"},
	{"internal/...", "...", "internal/..."},
	{"...", "bench/...", "bench/..."},
	{"...", "deploy/demo/...", "deploy/demo/..."},
}

// cgoPackages are the only packages with cgo: those of DPDK, and one that also builds without
// cgo.
var cgoPackages = []string{"engine/fast", "dpdk/eal", "dpdk/ethdev", "dpdk/mempool"}

// goPackage is what we read of one object of go list -json.
type goPackage struct {
	ImportPath   string
	Dir          string
	Doc          string
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
}

// listPackages are all packages of the module.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// matches reports whether pkg is pattern, or stands below a pattern with /...
func matches(pkg, pattern string) bool {
	below, tree := strings.CutSuffix(pattern, "...")
	return pkg == pattern || tree && strings.HasPrefix(pkg, below)
}

// TestImportsPointDownwards holds the imports of every package against mayNotImport.
func TestImportsPointDownwards(t *testing.T) {
	for _, p := range listPackages(t) {
		name := ours(p.ImportPath)
		for _, rule := range mayNotImport {
			if !matches(name, rule.pkg) {
				continue
			}
			except := strings.Split(rule.except, ",")
			for _, path := range p.Imports {
				imported := ours(path)
				if imported == "" || !matches(imported, rule.imports) ||
					slices.ContainsFunc(except, func(pattern string) bool {
						return matches(imported, pattern) || matches(name, pattern) && rule.pkg == "..."
					}) {
					continue
				}
				t.Errorf("%s imports %s: %s must not import %s (ARCHITECTURE.md, who may import whom)", name, imported, rule.pkg, rule.imports)
			}
		}
	}
}

// The builder of INT packets stays independent of what it is compared with: nothing
// of the packet path builds on it.
func TestIntgenIsNotOnThePacketPath(t *testing.T) {
	const intgen = "engine/wire/intgen"
	users := []string{"engine/burst/bursttest", "cmd/intsink/internal/gen", "cmd/intsink/internal/verify", "cmd/intsink/e2e/sinktest", "bench/...", "deploy/..."}
	for _, p := range listPackages(t) {
		name := ours(p.ImportPath)
		mayUse := slices.ContainsFunc(users, func(pattern string) bool { return matches(name, pattern) })
		if !mayUse && slices.Contains(p.Imports, module+"/"+intgen) {
			t.Errorf("%s imports %s, which is for tests and the commands of %v", name, intgen, users)
		}
	}
}

// ours is the import path within the module, empty for other modules'.
func ours(path string) string {
	name, found := strings.CutPrefix(path, module+"/")
	if !found {
		return ""
	}
	return name
}

func TestCgoStaysInDPDK(t *testing.T) {
	for _, p := range listPackages(t) {
		if name := ours(p.ImportPath); len(p.CgoFiles) > 0 && !slices.Contains(cgoPackages, name) {
			t.Errorf("%s imports \"C\" in %v: only %v may", name, p.CgoFiles, cgoPackages)
		}
	}
}

// needDPDK are the packages of commands that link DPDK. All others, and their tests,
// build on a machine without it.
var needDPDK = []string{"cmd/intsink", "cmd/intsink/e2e/...", "cmd/intsink/internal/appliance", "cmd/intsink/internal/collectors", "cmd/intsink/internal/command", "cmd/intsink/internal/ports", "cmd/intsink/internal/replay"}

func TestCommandsNeedDPDKInFewPlaces(t *testing.T) {
	out, err := exec.Command("go", "list", "-test", "-deps", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", module+"/cmd/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		name, _, _ := strings.Cut(ours(deps[0]), " ")
		name = strings.TrimSuffix(name, ".test")
		if !strings.HasPrefix(name, "cmd/") || slices.ContainsFunc(needDPDK, func(pattern string) bool { return matches(name, pattern) }) {
			continue
		}
		for _, dep := range deps[1:] {
			if strings.HasPrefix(ours(dep), "dpdk/") && slices.Contains(cgoPackages, ours(dep)) {
				t.Errorf("%s depends on %s: only %v may need DPDK", deps[0], ours(dep), needDPDK)
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, p := range listPackages(t) {
		name := p.ImportPath[strings.LastIndexByte(p.ImportPath, '/')+1:]
		switch name {
		case "util", "utils", "common", "helpers", "types":
			t.Errorf("package %s: a name that says nothing", p.ImportPath)
		}
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
	}
}
