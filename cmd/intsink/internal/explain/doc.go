// Package explain is the command why: it asks a running sink about one flow (client.go)
// and says in a few lines what the answer means (text.go).
package explain
