// Package upgrade lets another program take the place of the sink that runs, on trial, with a way back.
//
// The file of the new program lies beside that of the old one (Next), which stays what is installed until somebody confirms:
// whatever happens before, a restart, a power cut, a kill, starts the old one. The sink itself starts the new one as its child
// (Start), which reads the configuration and takes what memory it needs, and waits for its turn (Wait). Only then the old one
// stops, and becomes a guard (Guard): a small process that has the old one's process id, passes signals and notifications of
// systemd on, and watches over its child. Where that ends, hangs, does not forward in time, asks to go back or is not confirmed,
// the guard becomes the old sink again. None of it depends on systemd, nor on whoever asked for the upgrade.
//
// Both talk over one socket, in lines as of sd_notify(3), which the new one sends to systemd otherwise. Who confirms tells the guard,
// on a socket beside the sink's own (Socket): a program on trial does not decide over itself.
//
// What root does stands in files.go: it makes files, by package trusted alone. Whoever breaks into the sink has none of it in his hands.
package upgrade

import (
	"fmt"
	"os"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
)

// Trial is what a program is told that is on trial.
type Trial struct {
	control.Trial
	Early bool          `json:"early"` // it waits for its turn before it has memory
	Paces problem.Paces `json:"paces"` // of the program before
}

// Environment variables that a process is told by what it is.
const (
	trialEnv = "INTSINK_TRIAL"     // of a new program: its Trial
	guardEnv = "INTSINK_GUARD"     // of a guard: its Guard
	endedEnv = "INTSINK_WENT_BACK" // of an old program that is back: the control.EndedTrial
)

// What a new program tells the old one, besides what it tells systemd.
const (
	waiting = "INTSINK_WAITING=" // with its version: it is ready to take over
	worse   = "INTSINK_WORSE="   // with a JSON array of lines: it knows that it was confirmed, and what is worse than before
	back    = "INTSINK_BACK="    // with a control.EndedTrial: it stops
)

// What a new program is told: that it is its turn, and that it stays, with who has said so.
const (
	goOn = "go"
	kept = "INTSINK_KEPT="
)

// Socket is where a guard listens, of a sink whose socket is at path.
func Socket(path string) string { return path + ".trial" }

// Next is where the program lies that is to take the place of the one at path.
func Next(path string) string { return path + ".next" }

// Before is where the one at path is kept once another one is in its place.
func Before(path string) string { return path + ".before" }

// Own is the path of this process's program, while that is the one that is installed.
func Own() (string, error) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the program that runs is no longer the one that is installed: restart the sink first, or install the one that runs again: %w", err)
	}
	return path, nil
}
