package conf

import (
	"reflect"
	"strings"
	"testing"

	"intsink/conf/schema"
)

// matchAttributes collects the names of the attributes of watch.match.
type matchAttributes struct {
	schema.Visitor
	names []string
}

func (a *matchAttributes) Attr(name string, _ schema.Value) { a.names = append(a.names, name) }

// TestEachMatchAttributeCounts: a match with one field set is not empty (isEmpty).
func TestEachMatchAttributeCounts(t *testing.T) {
	for i := range reflect.TypeFor[Match]().NumField() {
		m := defaultMatch()
		if !isEmpty(&m) {
			t.Fatal("the default match is not empty")
		}
		field := reflect.ValueOf(&m).Elem().Field(i)
		if field.Kind() == reflect.Slice {
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		} else {
			field.Set(reflect.ValueOf(InnerLayer))
		}
		t.Run(reflect.TypeFor[Match]().Field(i).Name, func(t *testing.T) {
			if isEmpty(&m) {
				t.Error("a match with this field alone is taken for one of everything")
			}
		})
	}
}

// TestEachWrongMatchAttributeIsKnown: if the only attribute of a match could not be read, the
// match does not count as one of everything (anyFailed). Otherwise the watches behind it would
// get warnings.
func TestEachWrongMatchAttributeIsKnown(t *testing.T) {
	var all matchAttributes
	m := defaultMatch()
	visitMatch(&all, &m)
	if len(all.names) != reflect.TypeFor[Match]().NumField() {
		t.Fatalf("attributes %v", all.names)
	}
	for _, name := range all.names {
		t.Run(name, func(t *testing.T) {
			_, d := parse("test.hcl", []byte(base+"watch \"first\" {\n  match {\n    "+name+" = \"neither nor\"\n  }\n}\nwatch \"second\" {}\n"), fakeMachine())
			if len(d.Errors) != 1 || d.Errors[0].Line == 0 {
				t.Errorf("%v, want one error with its place", d.Errors)
			}
			for _, w := range d.Warnings {
				if strings.Contains(w.Message, "never reached") {
					t.Error(w.Message)
				}
			}
		})
	}
}
