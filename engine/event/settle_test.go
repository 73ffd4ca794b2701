package event

import "testing"

// TestLatenciesThatNeedNoTest: only latencies within the absolute deadband of a link's reference
// need no test. If the last values were outside, or the link has no reference, all are tested.
func TestLatenciesThatNeedNoTest(t *testing.T) {
	for _, c := range []struct {
		name            string
		link            Link
		inside, outside []uint64
	}{
		{"middle", Link{Ref: 5000}, []uint64{4000, 5000, 6000}, []uint64{3999, 6001, 0, 1 << 62}},
		{"near zero", Link{Ref: 300}, []uint64{0, 300, 1300}, []uint64{1301, 1<<64 - 1}},
		{"near the end", Link{Ref: unknown32 - 300}, []uint64{unknown32 - 1300, unknown32 - 1}, []uint64{unknown32 - 1301, unknown32, unknown32 + 1}},
		{"the last values were outside", Link{Ref: 5000, Window: 1}, nil, []uint64{0, 4000, 5000, 6000, unknown32}},
		{"no reference", Link{Ref: unknown32}, nil, []uint64{0, unknown32 - 1, unknown32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.link.settle(1000)
			for want, all := range map[bool][]uint64{true: c.inside, false: c.outside} {
				for _, ns := range all {
					if got := ns-c.link.least <= c.link.span; got != want {
						t.Errorf("%d ns needs no test: %v", ns, got)
					}
				}
			}
		})
	}
}

// TestWhatTheFastViewLooksAtMore: a view looks at more than flows where one of its policies asks for
// queues, links or timestamps, and compares links by the narrowest deadband among them.
func TestWhatTheFastViewLooksAtMore(t *testing.T) {
	const none = 1<<32 - 1
	for _, c := range []struct {
		name     string
		policies []FastPolicy
		more     bool
		absolute uint32
	}{
		{"nothing", []FastPolicy{{LinkAbsolute: 5}}, false, none},
		{"queues", []FastPolicy{{Fabric: true}}, true, none},
		{"timestamps", []FastPolicy{{PTP: true}}, true, none},
		{"links", []FastPolicy{{Link: true, LinkAbsolute: 7}}, true, 7},
		{"links of two", []FastPolicy{{Link: true, LinkAbsolute: 9}, {}, {Link: true, LinkAbsolute: 7}, {LinkAbsolute: 5}}, true, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := FastView{linkAbsolute: none}
			for i := range c.policies {
				v.add(&c.policies[i])
			}
			if (v.more != 0) != c.more || v.linkAbsolute != c.absolute {
				t.Errorf("more %d, absolute %d", v.more, v.linkAbsolute)
			}
		})
	}
}
