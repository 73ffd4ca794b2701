// FieldError: the error of a request with a wrong field; the answer names that field.

package control

import (
	"errors"
	"fmt"
	"net/http"
)

// FieldError says which field of a request is wrong. Commands name the flag that the field came
// from.
type FieldError struct {
	Field string
	Text  string // what follows the name: " = 5: must be 7", or ": there is no such link"
}

// WrongField is a FieldError; format and args make its Text.
func WrongField(field, format string, args ...any) *FieldError {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + e.Text }

// FieldText is the field, and what is wrong with it.
func (e *FieldError) FieldText() (field, text string) { return e.Field, e.Text }

// WrongRequest is the outcome of a wrong request; err says what is wrong. If err is a FieldError,
// the answer names the field.
func WrongRequest(err error) Outcome {
	out := Outcome{Result: WriteBad, Status: http.StatusBadRequest, Error: err.Error()}
	var field *FieldError
	if errors.As(err, &field) {
		out.Body = failure{Error: out.Error, Field: field.Field}
	}
	return out
}
