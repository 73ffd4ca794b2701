// Result: the JSON of a reload's outcome.

package control

import (
	"time"

	"intsink/conf"
)

// Result is the answer of POST /api/v1/reload: what the reload changed, or why it was
// refused.
type Result struct {
	OK           bool          `json:"ok"`
	Generation   uint64        `json:"generation"` // of the configuration in force: 1 at start, one more with each reload
	Time         time.Time     `json:"time"`
	Config       string        `json:"config"` // path
	SHA256       string        `json:"sha256"` // of what was read there
	By           string        `json:"by"`     // who asked
	Error        string        `json:"error,omitempty"`
	Changes      []conf.Change `json:"changes"`       // changes that were made; none if it was refused
	NeedsRestart []conf.Change `json:"needs_restart"` // changes that take a restart, for which it was refused
	Diagnostics  []Diagnostic  `json:"diagnostics"`   // errors, for which it was refused, and warnings
	Trial        *Trial        `json:"trial"`         // null: the configuration in force needs no confirmation
	DryRun       bool          `json:"dry_run,omitempty"`
	Note         string        `json:"note,omitempty"` // what a restart would bring, where that is something else
}

// Diagnostic is a mistake in the configuration.
type Diagnostic struct {
	Severity string `json:"severity"` // "error" or "warning"
	File     string `json:"file"`
	Line     int    `json:"line"`   // from 1; 0: about the file as a whole
	Column   int    `json:"column"` // from 1, in characters
	Message  string `json:"message"`
	Snippet  string `json:"snippet"` // the line with the place underlined; "" where there is none
}

// Diagnostics returns the diagnostics of d as JSON structs.
func Diagnostics(d *conf.Diagnostics) []Diagnostic {
	all := []Diagnostic{}
	for _, list := range [][]conf.Diagnostic{d.Errors, d.Warnings} {
		for _, x := range list {
			all = append(all, Diagnostic{x.Severity.String(), x.File, x.Line, x.Column, x.Message, x.Snippet})
		}
	}
	return all
}
