// Package eal starts and stops DPDK's Environment Abstraction Layer, makes
// goroutines known to it, and tells the time.
//
// EAL starts once per process, on any goroutine, before all pools and ports:
//
//	args, warnings, err := eal.Args(eal.Options{Hugepages: "auto", MemoryMiB: 256})
//	err = eal.Init(args)
//	defer eal.Cleanup()
//
// Workers are not EAL lcores. EAL gets one lcore that never works; a worker is a
// goroutine that locks its thread, pins it and registers it:
//
//	runtime.LockOSThread()
//	err := errors.Join(eal.PinThread(cpu), eal.RegisterThread())
//	defer eal.UnregisterThread()
//
// What DPDK logs while it starts, or while Capture runs, becomes part of one
// error. Later lines go to standard error, at most ten a second.
package eal
