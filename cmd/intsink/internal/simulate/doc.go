// Package simulate runs one worker of package engine on a capture's time: plan and replay
// differ in the ports that they give it. captureworker.go lets time pass and hands over the
// report packets, capturetimes.go knows which times are bad, memport.go has ports in memory, framereports.go knows the frames around these, summary.go prints the counters.
package simulate
