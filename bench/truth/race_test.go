//go:build race

package truth

const underRace = true
