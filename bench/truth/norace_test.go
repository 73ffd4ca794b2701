//go:build !race

package truth

const underRace = false
