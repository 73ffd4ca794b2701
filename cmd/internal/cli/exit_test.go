package cli

import (
	"errors"
	"testing"
)

func TestExitError(t *testing.T) {
	inner := errors.New("inner")
	if !errors.Is(ExitError{1, inner}, inner) || (ExitError{1, inner}).Error() != "inner" {
		t.Error("exitError hides its error")
	}
	if Failed(WrongUsage(inner)) != WrongUsage(inner) {
		t.Error("wrong usage becomes a failure")
	}
	if (ExitError{Code: 3}).Error() != "exit code 3" {
		t.Error(ExitError{Code: 3})
	}
}
