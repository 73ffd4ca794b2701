// Package collect is the command `collect`, of intsink and of intsink-collect.
package collect
