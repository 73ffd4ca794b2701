// Package cli is what the commands share in front of a user: exit codes, errors of
// flags, files that flags name, configurations, and how numbers are written.
package cli
