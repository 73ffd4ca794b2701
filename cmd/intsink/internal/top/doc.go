// Package top is the command that shows a running sink in a terminal, as top(1) shows
// processes. views.go says what is asked for and shown, table.go how rows become lines,
// screen.go reads keys and draws.
package top
