// ExitError: an error with the exit code that main ends with; Failed and WrongUsage make
// it.

package cli

import "fmt"

// ExitError ends the command with an exit code of its own. err nil means that
// the message has been printed already.
type ExitError struct {
	Code int
	Err  error
}

func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e ExitError) Unwrap() error { return e.Err }

// Failed is err with exit code 1: the command was right and could not be done.
func Failed(err error) error { return ExitError{1, err} }

// WrongUsage is err with exit code 2.
func WrongUsage(err error) error { return ExitError{2, err} }
