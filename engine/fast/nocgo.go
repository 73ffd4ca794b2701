//go:build !cgo

// Without cgo every packet is parsed.

package fast

// haveC: there are no loops in C. Without them no template is made.
const haveC = false

const vectors = true

func (p *Path) run(s step) {
	switch s {
	case receive:
		p.allUnknown()
	case lookup:
		p.Missing = p.index.Find(p.now, p.Keys[:p.ints], p.Hashes[:p.ints], p.Flows[:p.ints])
	case pass:
		for j := range p.ints {
			p.deferredAt[j] = uint8(j)
			if w := p.Flows[j]; w != nil {
				w.Hold()
			}
		}
		p.deferred = p.ints
	}
}

// poll is never called: NewLoop makes no Loop.
func (p *Path) poll(*Loop) {}

// Strip has nothing to do: no packet has a template.
func (p *Path) Strip(uint64) {}

func (p *Path) stripFrame(*Template, []byte, int) (removed int) { return 0 }
