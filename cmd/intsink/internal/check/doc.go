// Package check is the command check: it validates a configuration and says in a few
// lines what it amounts to.
package check
