package plan

import "testing"

func TestFigures(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.001: "<0.01", 0.25: "0.25", 1: "1", 9.999: "10", 12.34: "12.3", 1234: "1234", 9999.4: "9999",
		10000: "10k", 123456: "123k", 9_999_400: "9999k", 2.5e7: "25M", 1e10: "10G", 3e15: "3000T",
	} {
		if got := figure(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
