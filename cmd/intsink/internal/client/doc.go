// Package client asks a running sink over its HTTP endpoint, for the commands that show
// what it answers.
package client
