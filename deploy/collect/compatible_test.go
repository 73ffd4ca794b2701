//go:build engines

package collect

import (
	"regexp"
	"strings"
	"testing"
)

var (
	messageLine = regexp.MustCompile(`(?m)^ *message (\w+) \{|^ *\}|^ *(?:(optional|repeated) )?([\w.]+) (\w+) = (\d+)( \[[^]]*\])?;`)
	lineComment = regexp.MustCompile(`(?m)//.*$`)
)

// protoFields are the fields of a schema by their message and number, and the name of its first message, which the number 0 behind the
// magic byte of a registry stands for.
func protoFields(text string) (fields map[string]string, first string) {
	fields = map[string]string{}
	var in []string
	for _, m := range messageLine.FindAllStringSubmatch(lineComment.ReplaceAllString(text, ""), -1) {
		switch {
		case m[1] != "":
			if in = append(in, m[1]); first == "" {
				first = m[1]
			}
		case m[3] == "":
			in = in[:len(in)-1]
		default:
			fields[strings.Join(in, ".")+" "+m[5]] = strings.TrimSpace(m[2] + " " + m[3] + " " + m[4] + m[6])
		}
	}
	return fields, first
}

// TestSchemaIsCompatible: each version of intsink.proto that ever was reads the messages of each other one: fields are only ever added, none
// has another number, name, type or label, and the first message is the same. It is what registries ask for (BACKWARD_TRANSITIVE);
// under FORWARD some refuse what is new although old readers pass over it (Apicurio/apicurio-registry#9662).
func TestSchemaIsCompatible(t *testing.T) {
	const name = "intsink.proto"
	all := commits(t, name)
	if len(all) < 4 {
		t.Fatalf("only %d commits changed %s: is this the whole history?", len(all), name)
	}
	b, err := Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now, first := protoFields(string(b))
	if len(now) < 100 || first != "Report" {
		t.Fatalf("%d fields, %s first", len(now), first)
	}
	for _, commit := range all {
		was, began := protoFields(ofCommit(t, commit, name))
		if began != first || len(was) < 50 {
			t.Errorf("%s: %d fields, %s first", commit, len(was), began)
		}
		for number, field := range was {
			if now[number] != field {
				t.Errorf("%s: field %s is %q, now %q", commit, number, field, now[number])
			}
		}
	}
}
