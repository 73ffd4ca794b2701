// Serves GET /api/v1/openapi.json.

// Package openapi is the description of /api/v1 as an OpenAPI 3.1 document, for programs that make clients and tests of it.
// The answers in it come from the Go types that are answered, by a test:
//
//	INTSINK_UPDATE=1 go test ./cmd/intsink/internal/openapi
package openapi

import (
	_ "embed"
	"net/http"

	"intsink/cmd/intsink/internal/control"
)

// Document is the document.
//
//go:embed openapi.json
var Document []byte

// Server answers GET /api/v1/openapi.json.
type Server struct{}

// Register adds the routes.
func (Server) Register(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write(Document) // fails where nobody listens any more
	})
	mux.HandleFunc("/api/v1/openapi.json", control.Only("GET", "GET, HEAD"))
}

// Paths are what can be read.
func (Server) Paths() []string { return []string{"/api/v1/openapi.json"} }
