// Serves the web page's static files with a strict Content-Security-Policy.

// Package ui is the web page of a running sink: static files inside the binary, which
// ask the sink's own API for everything they show. static/app.js is where the page
// begins; each view is a file of its own beside it, static/vendor holds the two
// libraries with their licences.
package ui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// policy is the Content-Security-Policy of the page: nothing but this sink's own files,
// no inline script, no frame around it.
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// Handler serves the page below prefix, such as "/ui/".
func Handler(prefix string) http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	serve, small := http.StripPrefix(prefix, http.FileServerFS(files)), compressed(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		// The binary changes under the same address: ask for it each time.
		h.Set("Cache-Control", "no-cache")
		h.Set("Vary", "Accept-Encoding")
		name := strings.TrimPrefix(r.URL.Path, prefix)
		if name == "" {
			name = "index.html"
		}
		if b := small[name]; b != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && r.Method == http.MethodGet {
			h.Set("Content-Encoding", "gzip")
			h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			w.Write(b) // fails where nobody listens any more
			return
		}
		serve.ServeHTTP(w, r)
	})
}

// compressed are the files by name, as browsers load them.
func compressed(files fs.FS) map[string][]byte {
	all := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		z.Write(text)
		z.Close()
		all[name] = b.Bytes()
		return err
	})
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	return all
}
