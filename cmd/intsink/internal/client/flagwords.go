// Errors about a field of a request, in the words of the flag that it came from.

package client

import (
	"errors"
	"strings"

	"intsink/cmd/internal/cli"
)

// Refusal is the error in an answer of the sink.
type Refusal struct {
	Text  string
	Field string // of the request, that is wrong; Text begins with it; "": none is named
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// FieldText is the field that is wrong, and what is wrong with it.
func (r *Refusal) FieldText() (field, text string) {
	return r.Field, strings.TrimPrefix(r.Text, r.Field)
}

// InFlags makes an error that names a field of a request one that names the flag: wrong usage.
// The flag of a field that is not in flags has its name. Other errors stay what they are.
func InFlags(err error, flags map[string]string) error {
	var wrong interface {
		error
		FieldText() (field, text string)
	}
	if !errors.As(err, &wrong) {
		return err
	}
	field, text := wrong.FieldText()
	if field == "" {
		return err
	}
	flag := flags[field]
	if flag == "" {
		flag = strings.ReplaceAll(strings.TrimPrefix(field, "match."), "_", "-")
	}
	if value, ok := strings.CutPrefix(text, " = "); ok {
		text = " " + value
	}
	return cli.WrongUsage(errors.New("--" + flag + text))
}
