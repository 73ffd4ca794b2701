//go:build !cgo || purego

// Without cgo: Path.run and stripC call the Go twins.

package fast

// haveC: the twins run.
const haveC = false

func (p *Path) run(s step) { p.runGo(s) }

// poll is never called: NewLoop makes no Loop.
func (p *Path) poll(*Loop) {}

func (p *Path) stripC(which uint64) { stripGo(p.State, which) }
