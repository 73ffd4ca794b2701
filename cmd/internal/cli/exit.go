// ExitError: an error with the exit code that main ends with; Failed and WrongUsage make
// it, ExitCode ends a program with it.

package cli

import (
	"errors"
	"fmt"
	"io"
)

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

// Failed is err with exit code 1: the command was right and could not be done. An error that has an exit code keeps it.
func Failed(err error) error {
	if has := (ExitError{}); errors.As(err, &has) {
		return err
	}
	return ExitError{1, err}
}

// WrongUsage is err with exit code 2.
func WrongUsage(err error) error { return ExitError{2, err} }

// ExitCode returns the exit code of a program whose command has returned err, and prints err on
// stderr. Errors of cobra are wrong usage.
func ExitCode(stderr io.Writer, program string, err error) int {
	if err == nil {
		return 0
	}
	code := 2
	var exit ExitError
	if errors.As(err, &exit) {
		code, err = exit.Code, exit.Err
	}
	if err != nil {
		fmt.Fprintf(Printable(stderr), "%s: %v\n", program, err)
	}
	return code
}
