package fast

// What strip.h has code of its own for: two lengths and one or two checksums are to be
// repaired, at offsets from an IP header.
const (
	anything = iota
	ipv4UDP
	ipv4TCP
	ipv6UDP
	ipv6TCP
	ipv4Alone
)

// repairs are such: those of strip.h.
var repairs = [...]struct {
	kind   uint16
	length []length
	sum    []sum
}{
	{ipv4UDP, []length{{2, 0}, {24, 20}}, []sum{{at: 10, always: 0xffff, flip: 0xffff}, {at: 26, removed: 0xffff}}},
	{ipv4TCP, []length{{2, 0}, {2, 0}}, []sum{{at: 10, always: 0xffff, flip: 0xffff}, {at: 36, always: 0xffff, flip: 0xffff, removed: 0xffff}}},
	{ipv6UDP, []length{{4, 40}, {44, 40}}, []sum{{at: 46, removed: 0xffff}}},
	{ipv6TCP, []length{{4, 40}, {4, 40}}, []sum{{at: 56, always: 0xffff, flip: 0xffff, removed: 0xffff}}},
	{ipv4Alone, []length{{2, 0}, {2, 0}}, []sum{{at: 10, always: 0xffff, flip: 0xffff}}},
}

// setRepair finds out whether all that t repairs is of one of these kinds, behind the IP
// header at offset ip.
func (t *Template) setRepair(ip uint16) {
	for i := range repairs {
		r := &repairs[i]
		if int(t.lengths) != len(r.length) || int(t.sums) != len(r.sum) {
			continue
		}
		same := true
		for k, l := range r.length {
			same = same && t.length[k] == length{ip + l.at, ip + l.base}
		}
		for k, c := range r.sum {
			c.at, c.add = c.at+uint32(ip), t.sum[k].add
			same = same && t.sum[k] == c
		}
		if same {
			t.repair, t.ip = r.kind, ip
			return
		}
	}
}
