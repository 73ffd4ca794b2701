package record

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"intsink/engine/wire/report/reporttest"
	"intsink/exporters/record/nativetest"
	"intsink/internal/hostile"
	"intsink/internal/rounds"
)

// TestHostile: of report packets that are mutated at random the decoder makes records or an error,
// and what it makes of the next one does not depend on those before. JSON and protobuf are sound, and a block of
// columns has a row for each record, which says what its JSON says. make hostile plays many.
func TestHostile(t *testing.T) {
	packets := reporttest.All(t)
	hostile.Play(t, rounds.Of(20_000, 20), func(r *rand.Rand) int {
		used := NewDecoder(Options{})
		c := NewColumns()
		var texts [][]byte
		const n = 500
		for range n {
			p := hostile.Mutate(r, packets[r.IntN(len(packets))], packets[r.IntN(len(packets))], 1, 3000)
			got, want := texts, [][]byte(nil)
			each := func(to *[][]byte) func(*Record) {
				return func(x *Record) {
					b := AppendJSON(nil, x)
					if !json.Valid(b) {
						t.Errorf("of %x not JSON: %s", p, b)
					}
					if m := AppendProto(nil, x); !soundMessage(m) {
						t.Errorf("of %x not a message: %x", p, m)
					}
					*to = append(*to, b)
					if to == &texts {
						c.Append(x)
					}
				}
			}
			k, err := used.Records(p, &testOrigin, each(&texts))
			if k == 0 && err == nil {
				t.Errorf("neither a record nor an error of %x", p)
			}
			if r.IntN(16) == 0 {
				NewDecoder(Options{}).Records(p, &testOrigin, each(&want))
				if got := texts[len(got):]; len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
					t.Errorf("after others %s\nalone %s\nof %x", got, want, p)
				}
			}
		}
		rows, err := nativetest.Rows(native(c))
		if err != nil || len(rows) != len(texts) {
			t.Fatalf("%d rows of %d records: %v", len(rows), len(texts), err)
		}
		for i := range min(len(rows), 40) {
			var got, want any
			if json.Unmarshal(rows[i], &got) != nil || json.Unmarshal(texts[i], &want) != nil {
				t.Fatalf("not JSON: %s\n%s", rows[i], texts[i])
			}
			if w := want.(map[string]any); w["node_id"] == float64(math.MaxUint32) {
				delete(w, "node_id") // the column is never null: this is its value for none
			}
			if got, want := full(got), full(want); !reflect.DeepEqual(got, want) {
				t.Errorf("columns say\n%v, JSON\n%v", got, want)
			}
		}
		return n
	})
}
