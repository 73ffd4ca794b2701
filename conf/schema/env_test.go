package schema

import (
	"strings"
	"testing"
)

// environment is what the tests' variables are.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"NODE": "7", "SITE": "3", "ON": "true", "WORD": "fast", "EMPTY": "", "ODD": "seven"}[name]
	return v, ok
}

// TestVariablesOfTheEnvironment stand for values of each kind, and an error says what is
// wrong with one.
func TestVariablesOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      string // in the dump
		wrong     string // in the error
	}{
		{"a number", `server { workers = "${env.NODE}" }`, "workers = 7\n", ""},
		{"a number without quotes", `server { workers = env.NODE }`, "workers = 7\n", ""},
		{"a number of several", `server { workers = "1${env.NODE}" }`, "workers = 17\n", ""},
		{"a boolean", `server { strict = "${env.ON}" }`, "strict  = true\n", ""},
		{"a word", `server { mode = "${env.WORD}" }`, "mode    = \"fast\"\n", ""},
		{"within text", `server { address = "10.0.${env.SITE}.1" }`, "address = \"10.0.3.1\"\n", ""},
		{"in a list", `server { names = ["a", "sink-${env.SITE}"] }`, "names   = [\"a\", \"sink-3\"]\n", ""},
		{"in an object", `server { window = { first = "${env.SITE}", last = 9 } }`, "first = 3", ""},
		{"empty text", `server { names = ["x${env.EMPTY}"] }`, "names   = [\"x\"]\n", ""},
		{"not set", `server { workers = "${env.MISSING}" }`, "", "test.hcl:1:20: error: server: workers = \"${env.MISSING}\": the environment variable MISSING is not set; set it"},
		{"not a number", `server { workers = "${env.ODD}" }`, "", `must be a whole number from 1 to 64 (ODD is "seven")`},
		{"an empty number", `server { workers = "${env.EMPTY}" }`, "", `(EMPTY is "")`},
		{"no word of those", `server { mode = "${env.ODD}" }`, "", `(ODD is "seven")`},
		{"another variable", `server { workers = "${var.NODE}" }`, "", `as a literal, or "${env.NAME}": there are no other variables`},
		{"a function", `server { names = [upper("${env.ODD}")] }`, "", `as a literal, or "${env.NAME}"`},
		{"all of it", `server { names = ["${env}"] }`, "", `as a literal, or "${env.NAME}"`},
		{"an index", `server { names = ["${env["ODD"]}"] }`, "", `as a literal, or "${env.NAME}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New("test.hcl", []byte(c.src+"\n"))
			f.Env = environment
			got, d := read(f)
			switch {
			case c.wrong == "" && (got == nil || !strings.Contains(string(got.dump()), c.want)):
				t.Errorf("%v", d.Err())
				if got != nil {
					t.Errorf("%s", got.dump())
				}
			case c.wrong != "" && (got != nil || !strings.Contains(d.Err().Error(), c.wrong)):
				t.Errorf("%v", d.Err())
			}
		})
	}
}
