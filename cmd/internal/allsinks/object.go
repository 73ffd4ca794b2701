// object: a JSON object of a sink's answer, bounded and cleaned, with readers of its fields.

package allsinks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// object is a JSON object. Its numbers are json.Number, until something is added to them.
type object = map[string]any

// Bounds of what a sink may say.
const (
	maxText  = 2048 // bytes of a text
	maxDepth = 16
)

// parse reads one JSON object, and cleans its texts: a sink may say what it likes.
func parse(body []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("what it answers is no JSON object: %w", err)
	}
	if _, ok := clean(o, 0); !ok || o == nil {
		return nil, errors.New("what it answers is no answer of a sink: objects too deep in one another, or none")
	}
	return o, nil
}

// clean cuts long texts and replaces control characters in v, in place where v is an object or a list. It returns false where v
// is too deep.
func clean(v any, depth int) (any, bool) {
	if depth > maxDepth {
		return nil, false
	}
	switch v := v.(type) {
	case string:
		return cleanText(v), true
	case object:
		for k, x := range v {
			c, ok := clean(x, depth+1)
			if !ok {
				return nil, false
			}
			if name := cleanText(k); name != k {
				delete(v, k)
				k = name
			}
			v[k] = c
		}
	case []any:
		for i, x := range v {
			c, ok := clean(x, depth+1)
			if !ok {
				return nil, false
			}
			v[i] = c
		}
	}
	return v, true
}

// cleanText is s without control characters, those that turn the direction of writing among them, and not longer than maxText.
func cleanText(s string) string {
	if len(s) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '?'
		}
		return r
	}, s)
}

// number is a field that is a finite number; false: it is none.
func number(o object, name string) (float64, bool) {
	switch v := o[name].(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil && !math.IsInf(f, 0)
	case float64:
		return v, true
	}
	return 0, false
}

// amount is a field that counts; 0 where it is no number, or below it.
func amount(o object, name string) float64 {
	f, _ := number(o, name)
	return max(f, 0)
}

// text is a field that is a text; "": it is none.
func text(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

// when is a field that is a time; false: it is none.
func when(o object, name string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text(o, name))
	return t, err == nil
}

// inner is a field that is an object; an empty one where it is none.
func inner(o object, name string) object {
	x, ok := o[name].(object)
	if !ok {
		return object{}
	}
	return x
}

// objects are the objects of a field that is a list.
func objects(o object, name string) (all []object) {
	list, _ := o[name].([]any)
	for _, x := range list {
		if x, ok := x.(object); ok {
			all = append(all, x)
		}
	}
	return all
}

// shown is a value of a key as people write it: a number as it stands, "-" for null.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// copyOf is an object with the fields of o: what is put into it is not in o.
func copyOf(o object) object { return maps.Clone(o) }

// stamp is a time as the API writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// shift puts off the times of o in the fields of these names by so much: from a sink's clock to ours.
func shift(o object, by time.Duration, names ...string) {
	for _, name := range names {
		if t, ok := when(o, name); ok && by != 0 {
			o[name] = stamp(t.Add(by))
		}
	}
}

// deepCopy is v with lists and objects of its own.
func deepCopy(v any) any {
	switch v := v.(type) {
	case object:
		o := make(object, len(v))
		for k, x := range v {
			o[k] = deepCopy(x)
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = deepCopy(x)
		}
		return l
	}
	return v
}
