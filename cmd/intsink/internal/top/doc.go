// Package top is the command that shows a running sink in a terminal, as top(1) shows
// processes. views.go says what is asked for and shown, aligned.go how rows become lines,
// interactive.go reads keys and draws.
package top
