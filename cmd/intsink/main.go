// main of intsink: runs the root command, turns errors into exit codes.

// Command intsink is an In-band Network Telemetry sink appliance.
package main

import (
	"os"

	"intsink/cmd/intsink/internal/command"
)

// version is set by the build (-ldflags "-X main.version=...").
var version = "devel"

func main() { os.Exit(command.Main(version)) }
