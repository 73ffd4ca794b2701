// Strip: options headers without the options that go, padded again; what else is in them keeps its bytes and its alignment.

package ioam

// pack returns how long the options header h is without the options whose bits are set in gone: number is that of its first.
// An option that stays keeps its place within eight bytes, whatever alignment it needs. Zero: only padding is left. Where
// write is set, h becomes so. next is the number of the option behind h.
func pack(h []byte, gone uint64, number int, write bool) (length, next int) {
	to, at, gap := optionLen, optionLen, optionLen // where is written; what is read; where the padding in front of it begins
	cut, cuts, stays := false, false, false
	fill := func(from, n int) {
		if cut {
			pad(h[to:to+n], write)
		} else if write {
			copy(h[to:], h[from:from+n])
		}
		to += n
	}
	for at < len(h) {
		if h[at] == pad1 {
			at++
			continue
		}
		n := optionLen + int(h[at+1])
		switch {
		case h[at] == padN:
		case gone>>number&1 != 0:
			cut, cuts = true, true
			number++
		default:
			if front := at - gap; cut {
				fill(gap, (at-to)&(unit-1))
			} else {
				fill(gap, front)
			}
			if write {
				copy(h[to:], h[at:at+n])
			}
			to += n
			number++
			gap, cut, stays = at+n, false, true
		}
		at += n
	}
	if !cuts {
		return len(h), number
	}
	if !stays {
		return 0, number
	}
	if cut {
		fill(gap, -to&(unit-1))
	} else {
		fill(gap, len(h)-gap)
	}
	if write {
		h[1] = uint8(to/unit - 1)
	}
	return to, number
}

// pad makes b padding.
func pad(b []byte, write bool) {
	if !write || len(b) == 0 {
		return
	}
	clear(b)
	if len(b) > 1 {
		b[0], b[1] = padN, uint8(len(b)-optionLen)
	}
}

// Strip takes the options in gone out of a packet with an IPv6 header at l3, as Find found them; end is where the last header
// with one ends. What is in front moves up; the frame then starts so many bytes further on. The length of IP is the caller's.
func Strip(b []byte, l3, end int, gone uint64) (removed int) {
	const nextHeader = 6
	from := l3 + ipv6Len
	named, to, number := l3+nextHeader, from, 0 // the byte that names the header at hand
	kind := b[named]
	for at := from; at < end; {
		size := sizeOf(kind, b[at+1])
		n, is, next := size, kind, b[at]
		if is == hopByHop || is == endToEnd {
			n, number = pack(b[at:at+size], gone, number, true)
		}
		if n == 0 {
			b[named] = next
		} else {
			copy(b[to:], b[at:at+n])
			named = to
			to += n
		}
		kind = next
		at += size
	}
	removed = end - to
	copy(b[from+removed:end], b[from:to])
	copy(b[removed:], b[:from])
	return removed
}
