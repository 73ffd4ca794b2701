//go:build race && linux && amd64

package main

// raced: the detector's own work differs by some instructions from run to run.
const raced = true
