package installed_test

import (
	"testing"

	"intsink/cmd/intsink/e2e/sinktest"
)

func TestMain(m *testing.M) { sinktest.Main(m) }
