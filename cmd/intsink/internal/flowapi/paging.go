// page: cuts a sorted list to one page of JSON, with a cursor; makes nullable values and
// times.

package flowapi

import (
	"cmp"
	"slices"
	"time"
)

// page is one page of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; absent on the last
	// Totals are of the whole list, not of the page.
	Totals any `json:"totals"`
}

// listed is an item and its place in the order.
type listed[T any] struct {
	value uint64
	id    string
	item  T
}

// cut sorts the whole list, the highest value first, and returns the page of it
// that g asks for.
func cut[T any](all []listed[T], g paging, totals any) *page[T] {
	order := func(a, b listed[T]) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.id, b.id)) }
	slices.SortFunc(all, order)
	if g.after != nil {
		after := listed[T]{value: g.after.Value, id: g.after.ID}
		at, found := slices.BinarySearchFunc(all, after, order)
		if found {
			at++
		}
		all = all[at:]
	}
	p := &page[T]{Items: []T{}, Totals: totals}
	for _, x := range all[:min(len(all), g.limit)] {
		p.Items = append(p.Items, x.item)
	}
	if len(all) > g.limit {
		last := &all[g.limit-1]
		p.Next = (&cursor{g.sort, last.value, last.id}).String()
	}
	return p
}

// timestamp is a time in JSON: RFC 3339, in UTC.
func timestamp(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// someTime is nil for a time that never was.
func someTime(ns int64) *time.Time {
	if ns == 0 {
		return nil
	}
	t := timestamp(ns)
	return &t
}

// some is nil for a value that is not known.
func some[T any](v T, known bool) *T {
	if !known {
		return nil
	}
	return &v
}
