package conf

import "testing"

// TestSocketPath: a path stands for itself; "auto" for api.sock in the first of systemd's runtime directories.
func TestSocketPath(t *testing.T) {
	for _, c := range []struct{ name, socket, directory, want string }{
		{"path", "/srv/api", "/run/intsink", "/srv/api"},
		{"none", "", "/run/intsink", ""},
		{"auto", "auto", "/run/intsink", "/run/intsink/api.sock"},
		{"the first of two", "auto", "/run/first:/run/second", "/run/first/api.sock"},
		{"auto without systemd", "auto", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := ""
			got := (&HTTP{Socket: c.socket}).SocketPath(func(name string) string { asked = name; return c.directory })
			if got != c.want || c.socket == "auto" != (asked == "RUNTIME_DIRECTORY") {
				t.Errorf("%q by %q, want %q", got, asked, c.want)
			}
		})
	}
}
