// Reads the file, or all *.hcl files of a folder, into memory.

package schema

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"intsink/internal/plainfile"
)

// Source is one file of a configuration, as it is in memory.
type Source struct {
	Name string // for diagnostics: its path
	Text []byte
}

// source is one file that is read.
type source struct {
	name  string
	text  []byte
	lines [][]byte // of text
}

// maxSources is how many files a folder may have.
const maxSources = 256

// Open reads the file at path. The File is nil where it cannot be read, which the
// Diagnostics say.
func Open(path string) (*File, *Diagnostics) {
	text, err := plainfile.Read(path)
	if err != nil {
		return nil, unreadable(path, cannotRead(err).Error())
	}
	return New(path, text), nil
}

// OpenAny is Open of a file, or of all files *.hcl of the folder at path, in order of name, but
// for hidden ones: they are read as if they were one file.
func OpenAny(path string) (*File, *Diagnostics) {
	sources, err := ReadSources(path)
	if err != nil {
		return nil, unreadable(path, err.Error())
	}
	return NewFiles(path, sources), nil
}

// cannotRead says why a configuration could not be read.
func cannotRead(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file; --config says where the configuration is")
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot read the configuration: %w; ask as its owner or as root", err)
	}
	return fmt.Errorf("cannot read the configuration: %w", err)
}

func unreadable(path, message string) *Diagnostics {
	d := &Diagnostics{}
	d.add(Diagnostic{Severity: Error, File: path, Message: message}, nil)
	return d
}

// ReadSources returns the file at path, or the files *.hcl of the folder that it is.
func ReadSources(path string) ([]Source, error) {
	names := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path) // in order of name
		if err != nil {
			return nil, cannotRead(err)
		}
		names = nil
		for _, e := range entries {
			if name := e.Name(); filepath.Ext(name) == ".hcl" && !strings.HasPrefix(name, ".") {
				names = append(names, filepath.Join(path, name))
			}
		}
		switch {
		case len(names) == 0:
			return nil, fmt.Errorf("no file of this folder is called *.hcl: a configuration is a file, or a folder of such files")
		case len(names) > maxSources:
			return nil, fmt.Errorf("%d files *.hcl are in this folder: at most %d are read", len(names), maxSources)
		}
	}
	sources := make([]Source, len(names))
	for i, name := range names {
		text, err := plainfile.Read(name)
		if err != nil {
			return nil, cannotRead(err)
		}
		sources[i] = Source{name, text}
	}
	return sources, nil
}

// New is Open for a file in memory; diagnostics call it file.
func New(file string, src []byte) *File { return NewFiles(file, []Source{{file, src}}) }

// NewFiles is New for several files, which are read as if they were one; name is what
// diagnostics about all of them call them.
func NewFiles(name string, files []Source) *File {
	d := &File{name: name, out: &Diagnostics{order: map[string]int{}}, places: map[any]hcl.Range{}, failed: map[any]bool{}}
	sum := sha256.New()
	for i, f := range files {
		sum.Write(f.Text)
		d.sources = append(d.sources, source{f.Name, f.Text, bytes.Split(f.Text, []byte("\n"))})
		d.out.order[f.Name] = i + 1
	}
	d.out.SHA256 = fmt.Sprintf("%x", sum.Sum(nil))
	return d
}

// source returns the file that r is in; nil: none.
func (d *File) source(r hcl.Range) *source {
	i := slices.IndexFunc(d.sources, func(s source) bool { return s.name == r.Filename })
	if i < 0 {
		return nil
	}
	return &d.sources[i]
}

// textAt returns what stands at r in its file, "?" where that is not known.
func (d *File) textAt(r hcl.Range) string {
	from := d.source(r)
	if from == nil || r.Start.Byte > r.End.Byte || r.End.Byte > len(from.text) {
		return "?"
	}
	return string(from.text[r.Start.Byte:r.End.Byte])
}

// joined returns the reader of the top level of all files together.
func (d *File) joined(bodies []*hclsyntax.Body) *reader {
	if len(bodies) == 1 {
		return d.bodyReader(bodies[0], "", "", bodies[0].EndRange)
	}
	all := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	for _, b := range bodies {
		for name, a := range b.Attributes {
			if first, twice := all.Attributes[name]; twice {
				d.report(Error, a.NameRange, "%s is set a second time; the first stands in %s", Short(name), lineOf(first.NameRange, a.NameRange))
				continue
			}
			all.Attributes[name] = a
		}
		all.Blocks = append(all.Blocks, b.Blocks...)
	}
	return d.bodyReader(all, "", "", bodies[len(bodies)-1].EndRange)
}

// lineOf describes the place r to a reader who looks at from: the file is named only if it
// differs.
func lineOf(r, from hcl.Range) string {
	if r.Filename == from.Filename {
		return fmt.Sprintf("line %d", r.Start.Line)
	}
	return fmt.Sprintf("line %d of %s", r.Start.Line, r.Filename)
}
