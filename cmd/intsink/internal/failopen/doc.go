// Package failopen makes a sink that cannot keep up do less with packets, step by step, down to
// a bypass around it. No step drops a packet that full would not.
//
//	mode.go        the steps: full, strip, pass, bypass
//	ladder.go      which step the load of workers asks for, with hysteresis
//	load.go        how loaded workers are, and whether one hangs
//	controller.go  the step in force: the lowest of what the load and people ask for
//	keep.go        the step that people ask for, over a restart
//	bypass.go      the switch around the sink, from before its start to the end of the process
//	watchdog.go    the command of a bypass switch, run also when workers stop polling
//	server.go      the part of a sink that does so; GET and POST /api/v1/mode
//	command.go     the command mode, their client
package failopen
