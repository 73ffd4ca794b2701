// Filter: which problems a request of GET /api/v1/problems selects, of a sink's and of those of all sinks.

package problem

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter selects problems.
type Filter struct {
	open  *bool
	kinds []Kind
	limit int

	Since time.Time // that were wrong at this time or later
}

// ReadFilter reads the parameters of a request. most is how many problems an answer has at most; kinds are those that there may be.
func ReadFilter(q url.Values, most int, kinds []KindInfo) (f Filter, err error) {
	f.limit = most
	for name, values := range q {
		if len(values) != 1 {
			return f, fmt.Errorf("%s stands there %d times", name, len(values))
		}
		v := values[0]
		switch name {
		case "open":
			f.open = new(v == "true")
			if v != "true" && v != "false" {
				return f, fmt.Errorf("open = %.40q: must be true or false", v)
			}
		case "kind":
			for _, k := range strings.Split(v, ",") {
				if infoOf(Kind(k), kinds) == nil {
					return f, fmt.Errorf("kind = %.40q: there is %s", k, KindNames(kinds))
				}
				f.kinds = append(f.kinds, Kind(k))
			}
		case "since":
			if f.Since, err = time.Parse(time.RFC3339, v); err != nil {
				return f, fmt.Errorf("since = %.40q: must be a time such as 2026-11-22T03:31:09Z", v)
			}
		case "limit":
			if f.limit, err = strconv.Atoi(v); err != nil || f.limit < 1 || f.limit > most {
				return f, fmt.Errorf("limit = %.40q: must be 1 to %d", v, most)
			}
		default:
			return f, fmt.Errorf("parameter %.40q is not known; there is kind, limit, open, since", name)
		}
	}
	return f, nil
}

// Select returns those of all that f selects, up to its limit, and how many there are. of says of what kind one is, and when it ended; zero: it
// is wrong now.
func Select[T any](f *Filter, all []T, of func(T) (Kind, time.Time)) (items []T, totals Totals) {
	items = []T{}
	for _, x := range all {
		kind, until := of(x)
		now := until.IsZero()
		switch {
		case f.open != nil && *f.open != now, len(f.kinds) > 0 && !slices.Contains(f.kinds, kind), !now && until.Before(f.Since):
			continue
		case now:
			totals.Open++
		default:
			totals.Ended++
		}
		if len(items) < f.limit {
			items = append(items, x)
		}
	}
	return items, totals
}

// KindNames lists kinds, for messages.
func KindNames(kinds []KindInfo) string {
	var all []string
	for i := range kinds {
		all = append(all, string(kinds[i].Kind))
	}
	return strings.Join(all, ", ")
}
