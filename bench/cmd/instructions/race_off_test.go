//go:build !race && linux && amd64

package main

// raced: see race_on_test.go.
const raced = false
