// Serves the web page's static files with a strict Content-Security-Policy.

// Package ui is the web page of a running sink: static files inside the binary, which
// ask the sink's own API for everything they show. static/app.js is where the page
// begins; each view is a file of its own beside it, static/vendor holds the three
// libraries with their licences.
package ui

import (
	"embed"
	"io/fs"
	"net/http"
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
	serve := http.StripPrefix(prefix, http.FileServerFS(files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		// The binary changes under the same address: ask for it each time.
		h.Set("Cache-Control", "no-cache")
		serve.ServeHTTP(w, r)
	})
}
