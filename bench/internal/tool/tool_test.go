package tool

import (
	"flag"
	"strings"
	"testing"
	"time"
)

func TestUsageAndBothDashes(t *testing.T) {
	var out strings.Builder
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.SetOutput(&out)
	seconds := flags.Duration("seconds", 2*time.Second, "length of a trial")
	flags.Bool("update", false, "write the file")
	usage(flags, "x")
	const want = `Flags of x:
  --seconds duration
        length of a trial (default 2s)
  --update
        write the file
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	for _, dashes := range []string{"-", "--"} {
		if err := flags.Parse([]string{dashes + "seconds", "5s"}); err != nil || *seconds != 5*time.Second {
			t.Errorf("%sseconds 5s: %v, %v", dashes, *seconds, err)
		}
		*seconds = 0
	}
}
