// Package sinktest runs intsink as a user does, for tests of all packages of the command: the test program is
// started again and is intsink then. Only tests import it.
package sinktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/command"
)

// RanAs names the environment variable with the file into which a program that a descriptor names writes how it was called.
const RanAs = "INTSINK_TEST_RAN_AS"

// Main runs the tests of a package, or, in a process that one of them has started, intsink: EAL can be
// started once per process.
func Main(m *testing.M) {
	if path := os.Getenv(RanAs); path != "" && strings.HasPrefix(os.Args[0], "/proc/") {
		os.WriteFile(path, []byte(strings.Join(os.Args, " ")), 0o600)
	}
	if os.Getenv("INTSINK_TEST_MAIN") != "" || filepath.Base(os.Args[0]) == "intsink.next" { // which root asks without its environment
		os.Exit(command.Main("devel"))
	}
	os.Exit(m.Run())
}
