// Package collector is what an operator can write for `intsink collect`: HCL -> one typed
// Config, with all faults of the file at once. docs/collect.md describes every attribute.
package collector
