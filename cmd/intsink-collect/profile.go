//go:build profile

// A CPU profile for the compiler, in a program that scripts/pgo.sh alone builds.

package main

import (
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
)

// init writes a profile of the time until SIGTERM to the file that INTSINK_PROFILE names.
func init() {
	f, err := os.Create(os.Getenv("INTSINK_PROFILE"))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		panic(err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		pprof.StopCPUProfile()
	}()
}
