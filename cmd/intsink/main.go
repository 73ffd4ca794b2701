// main of intsink: runs the root command, turns errors into exit codes.

// Command intsink is an In-band Network Telemetry sink appliance.
package main

import (
	"os"

	"intsink/cmd/internal/cli"
)

// version is set by the build (-ldflags "-X main.version=...").
var version = "devel"

func main() { os.Exit(cli.ExitCode(os.Stderr, "intsink", newRootCommand().Execute())) }
