package repotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "intsink"

// mayImport says what of ours each package may import, tests aside. The first row that
// fits a package counts; a pattern that ends in /... means everything below.
// ARCHITECTURE.md has the same table: `make imports` writes it.
var mayImport = []struct {
	pkg     string
	imports []string
}{
	{"cmd/internal/cli", []string{"conf", "conf/schema"}},
	{"cmd/internal/capture", []string{"cmd/internal/cli", "cmd/internal/progress", "exporters/file"}},
	{"cmd/internal/progress/ptytest", nil},
	{"cmd/internal/progress", []string{"cmd/internal/cli"}},
	{"cmd/internal/collect", []string{"cmd/internal/...", "conf", "conf/collector", "conf/schema", "deploy/collect", "engine/inthdr", "exporters/..."}},
	{"cmd/intsink-collect", []string{"cmd/internal/..."}},
	{"cmd/internal/decode", []string{"cmd/internal/...", "engine/inthdr", "engine/report", "engine/report/...", "exporters/collect/streams", "exporters/record"}},
	{"cmd/internal/sinkconf", []string{"conf", "engine/event", "engine/inthdr"}},
	{"cmd/intsink/internal/rules", []string{"cmd/internal/sinkconf", "conf", "conf/schema", "engine", "engine/...", "exporters/port", "flows"}},
	{"cmd/intsink/internal/flowapi", []string{"cmd/internal/cli", "engine", "engine/event", "engine/inspect", "engine/watch", "flows"}},
	{"cmd/intsink/internal/explain", []string{"cmd/intsink/internal/client", "cmd/internal/cli", "cmd/intsink/internal/flowapi", "conf", "engine/inspect"}},
	{"cmd/intsink/internal/appliance", []string{"cmd/internal/cli", "cmd/intsink/internal/control", "cmd/intsink/internal/failopen", "cmd/internal/logging", "cmd/intsink/internal/livecapture", "cmd/intsink/internal/mitigation", "cmd/internal/notify", "cmd/internal/shutdown", "cmd/intsink/internal/observe", "cmd/intsink/internal/rules", "conf", "dpdk/...", "engine", "engine/distribute", "engine/reporting", "exporters/...", "flows"}},
	{"cmd/intsink/internal/gen", []string{"cmd/internal/...", "engine/intgen", "internal/wire"}},
	{"cmd/intsink/internal/check", []string{"cmd/internal/cli", "conf", "flows"}},
	{"cmd/intsink/internal/simulate", []string{"cmd/internal/cli", "cmd/intsink/internal/rules", "conf", "dpdk/mbuf", "dpdk/ring", "engine", "engine/...", "exporters/port"}},
	{"cmd/intsink/internal/plan", []string{"cmd/internal/...", "cmd/intsink/internal/rules", "cmd/intsink/internal/simulate", "conf", "dpdk/mbuf", "engine", "engine/..."}},
	{"cmd/intsink/internal/replay", []string{"cmd/internal/...", "cmd/intsink/internal/rules", "cmd/intsink/internal/simulate", "conf", "dpdk/...", "engine", "exporters/file"}},
	{"cmd/intsink/internal/observe/observetest", nil},
	{"cmd/intsink/internal/failopen", []string{"cmd/internal/cli", "cmd/intsink/internal/client", "cmd/intsink/internal/control", "cmd/intsink/internal/status", "conf"}},
	{"cmd/intsink/internal/observe", []string{"cmd/intsink/internal/control", "cmd/intsink/internal/failopen", "cmd/intsink/internal/livecapture", "cmd/intsink/internal/mitigation", "cmd/intsink/internal/status", "cmd/intsink/internal/flowapi", "cmd/intsink/internal/sharing", "cmd/intsink/internal/ui", "conf", "engine", "engine/...", "exporters", "exporters/port"}},
	{"cmd/internal/notify", nil},
	{"cmd/internal/shutdown", []string{"cmd/internal/cli"}},
	{"cmd/intsink/internal/control/controltest", []string{"cmd/intsink/internal/control"}},
	{"cmd/intsink/internal/control", []string{"conf"}},
	{"cmd/intsink/internal/reload", []string{"cmd/internal/cli", "cmd/intsink/internal/client", "cmd/intsink/internal/control", "conf"}},
	{"cmd/intsink/internal/mitigation", []string{"cmd/internal/cli", "cmd/intsink/internal/client", "cmd/intsink/internal/control", "engine/mitigate"}},
	{"cmd/intsink/internal/livecapture", []string{"cmd/internal/cli", "cmd/internal/progress", "cmd/intsink/internal/client", "cmd/intsink/internal/control", "cmd/intsink/internal/mitigation", "conf", "engine", "engine/..."}},
	{"cmd/intsink/internal/verify", []string{"cmd/internal/...", "cmd/intsink/internal/rules", "cmd/intsink/internal/simulate", "conf", "dpdk/mbuf", "engine/intgen", "engine/packet"}},
	{"cmd/intsink/internal/ui", nil},
	{"cmd/intsink/internal/sharing", nil},
	{"cmd/intsink/internal/status", nil},
	{"cmd/intsink/internal/bugreport", []string{"cmd/internal/cli", "cmd/intsink/internal/client", "cmd/intsink/internal/doctor", "conf"}},
	{"cmd/intsink/internal/doctor", []string{"cmd/internal/cli", "conf", "dpdk/iface"}},
	{"cmd/intsink/internal/client", []string{"cmd/internal/cli", "conf"}},
	{"cmd/intsink/internal/top", []string{"cmd/internal/cli", "cmd/intsink/internal/client", "cmd/intsink/internal/status"}},
	{"cmd/internal/logging", []string{"conf"}},
	{"cmd/intsink", []string{"cmd/internal/...", "cmd/intsink/internal/..."}},
	{"conf/schema", []string{"internal/ranges"}},
	{"conf/collector", []string{"conf", "conf/schema"}},
	{"deploy/collect", nil},
	{"conf", []string{"conf/schema"}},
	{"dpdk/mbuf", nil},
	{"dpdk/...", []string{"dpdk/...", "internal/checksum"}},
	{"engine/packet", nil},
	{"engine/inthdr", []string{"engine/packet", "internal/ranges"}},
	{"engine/fast", []string{"engine/packet", "engine/inthdr", "engine/event", "flows", "dpdk/mbuf"}},
	{"engine/strip", []string{"engine/packet", "engine/inthdr", "internal/checksum"}},
	{"engine/histogram", nil},
	{"engine/distribute", []string{"dpdk/mbuf", "dpdk/ring"}},
	{"engine/event", []string{"engine/histogram", "engine/inthdr", "flows", "internal/ranges"}},
	{"engine/inspect", []string{"engine/event", "engine/inthdr", "flows"}},
	{"engine/classify/classifytest", []string{"flows", "internal/ranges"}},
	{"engine/classify", []string{"internal/ranges"}},
	{"engine/mitigate", []string{"engine/classify", "flows", "internal/ranges"}},
	{"engine/capture", []string{"dpdk/mbuf", "engine/event", "engine/inthdr", "engine/mitigate"}},
	{"engine/watch", []string{"engine/classify", "engine/packet", "engine/inthdr", "flows", "internal/ranges"}},
	{"engine/reporting", []string{"engine/event", "engine/inthdr", "engine/report", "flows", "dpdk/mbuf", "dpdk/ring"}},
	{"engine/report", []string{"engine/packet", "internal/checksum"}},
	{"engine/report/reporttest", nil},
	{"engine/report/decode", []string{"engine/inthdr", "engine/packet", "engine/report"}},
	{"engine/intgen", nil},
	{"engine/enginetest", []string{"dpdk/mbuf", "dpdk/ring", "engine/report", "engine/report/decode"}},
	{"engine/enginetest/workertest", []string{"engine", "flows"}},
	{"engine/enginetest/looptest", nil},
	{"engine", []string{"engine/...", "flows", "dpdk/...", "internal/checksum"}},
	{"flows", []string{"internal/checksum"}},
	{"exporters/record", []string{"engine/event", "engine/inthdr", "engine/packet", "engine/report", "engine/report/decode"}},
	{"exporters/collect/streams", []string{"exporters/record"}},
	{"exporters/collect/spool", []string{"exporters/collect/streams", "internal/checksum"}},
	{"exporters/collect/aggregate", []string{"engine/report", "exporters/record"}},
	{"exporters/collect/...", []string{"exporters/collect", "exporters/collect/...", "exporters/record"}},
	{"exporters/collect", []string{"exporters/collect/...", "exporters/record"}},
	{"exporters/kafka/kafkatest", []string{"internal/loopback"}},
	{"exporters/kafka", []string{"exporters/collect"}},
	{"exporters/clickhouse", []string{"exporters/collect"}},
	{"exporters/jsonl", []string{"exporters/collect"}},
	{"exporters/...", []string{"exporters", "engine/histogram", "engine/packet", "engine/report", "dpdk/...", "internal/checksum"}},
	{"exporters", []string{"engine/histogram", "engine/report", "dpdk/..."}},
	{"bench/...", []string{"..."}},
	{"deploy/demo/...", nil},
	{"deploy/collect", nil},
	{"deploy/wireshark", nil}, // holds tests only
	{"internal/loopback", nil},
	{"internal/netns", nil},
	{"internal/repotest", nil},
	{"internal/checksum", nil},
	{"internal/ranges", nil},
	{"internal/rounds", nil},
	{"internal/wire", nil},
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

// TestImportTableIsInTheDocument: ARCHITECTURE.md shows mayImport. INTSINK_UPDATE=1, which
// `make imports` sets, writes it.
func TestImportTableIsInTheDocument(t *testing.T) {
	table := "| package | may import, of ours |\n|---|---|\n"
	for _, row := range mayImport {
		imports := "nothing"
		if len(row.imports) > 0 {
			imports = "`" + strings.Join(row.imports, "` `") + "`"
		}
		table += "| `" + row.pkg + "` | " + imports + " |\n"
	}
	updateDocument(t, "table of imports", table)
}

// updateDocument compares text with what ARCHITECTURE.md has between its marks of that name,
// or writes it there.
func updateDocument(t *testing.T, name, text string) {
	t.Helper()
	const path = "ARCHITECTURE.md"
	begin := "<!-- `make imports` writes the " + name + ". -->\n"
	end := "<!-- End of the " + name + ". -->\n"
	doc := read(t, path)
	before, rest, found1 := strings.Cut(doc, begin)
	_, after, found2 := strings.Cut(rest, end)
	if !found1 || !found2 {
		t.Fatalf("%s lacks the lines\n%s%s", path, begin, end)
	}
	want := before + begin + "\n" + strings.TrimSuffix(text, "\n") + "\n\n" + end + after
	if doc == want {
		return
	}
	if os.Getenv("INTSINK_UPDATE") == "" {
		t.Errorf("the %s in %s is out of date: run `make imports`", name, path)
	} else if err := os.WriteFile(filepath.Join(root, path), []byte(want), 0o644); err != nil {
		t.Error(err)
	}
}

func TestImportDirection(t *testing.T) {
	for _, p := range listPackages(t) {
		name := ours(p.ImportPath)
		i := slices.IndexFunc(mayImport, func(rule struct {
			pkg     string
			imports []string
		}) bool {
			return matches(name, rule.pkg)
		})
		if i < 0 {
			t.Errorf("package %s is not in the table of imports: add it to mayImport and run `make imports`", name)
			continue
		}
		for _, path := range p.Imports {
			imported := ours(path)
			if imported == "" {
				continue
			}
			if !slices.ContainsFunc(mayImport[i].imports, func(pattern string) bool { return matches(imported, pattern) }) {
				t.Errorf("%s imports %s; it may import %v", name, imported, mayImport[i].imports)
			}
		}
	}
}

// The builder of INT packets stays independent of what it is compared with: nothing
// of the packet path builds on it.
func TestIntgenIsNotOnThePacketPath(t *testing.T) {
	const intgen = "engine/intgen"
	users := []string{"cmd/intsink/internal/gen", "cmd/intsink/internal/verify", "bench/...", "deploy/..."}
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
var needDPDK = []string{"cmd/intsink", "cmd/intsink/internal/appliance", "cmd/intsink/internal/replay"}

func TestCommandsNeedDPDKInFewPlaces(t *testing.T) {
	out, err := exec.Command("go", "list", "-test", "-deps", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", module+"/cmd/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		name, _, _ := strings.Cut(ours(deps[0]), " ")
		name = strings.TrimSuffix(name, ".test")
		if !strings.HasPrefix(name, "cmd/") || slices.Contains(needDPDK, name) {
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
