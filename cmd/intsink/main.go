// main of intsink: runs the root command, turns errors into exit codes.

// Command intsink is an In-band Network Telemetry sink appliance.
package main

import (
	"errors"
	"fmt"
	"os"

	"intsink/cmd/internal/cli"
)

// version is set by the build (-ldflags "-X main.version=...").
var version = "devel"

func main() {
	err := newRootCommand().Execute()
	if err == nil {
		return
	}
	code := 2 // wrong usage, unless a command says otherwise
	var exit cli.ExitError
	if errors.As(err, &exit) {
		code = exit.Code
		err = exit.Err
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "intsink:", err)
	}
	os.Exit(code)
}
