// Writes the parts of a bug report into a tar.gz: one folder, a file per part.

package bugreport

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"path"
	"strings"
	"time"
)

// write puts every part into a folder of the archive. It returns the parts that are missing with
// the reason, which it writes in place of the part. No part says who talks to whom.
func write(ctx context.Context, w io.Writer, folder string, parts []part, now time.Time) (missing []string, err error) {
	zip := gzip.NewWriter(w)
	archive := tar.NewWriter(zip)
	flows := anonymous{}
	for _, p := range parts {
		name := p.name
		content, problem := p.make(ctx)
		if problem != nil {
			first, _, _ := strings.Cut(problem.Error(), "\n")
			missing = append(missing, name+": "+first)
			name, content = name+".missing", []byte(problem.Error()+"\n")
		}
		content = flows.text(content)
		h := &tar.Header{Name: path.Join(folder, name), Mode: 0o600, Size: int64(len(content)), ModTime: now.UTC()}
		if err := archive.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return missing, zip.Close()
}
