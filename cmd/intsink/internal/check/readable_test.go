package check

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/conf"
)

// TestSecretsThatOthersRead: check names each file of a configuration that others may read and should not.
func TestSecretsThatOthersRead(t *testing.T) {
	const (
		plain = "port \"n\" { device = \"net_null0\" }\nport \"h\" { device = \"net_null1\" }\nlink \"l\" {\n network = \"n\"\n host = \"h\"\n}\nint { udp_port = 5000 }\nnode { id = 7 }\n"
		token = "token \"a\" { sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\" }\n"
	)
	for _, c := range []struct {
		name, http string
		file, key  os.FileMode
		want       string // "": nothing
	}{
		{"nothing secret", "", 0o644, 0o600, ""},
		{"a key", "KEY", 0o644, 0o644, "server.key"},
		{"a key of one's own", "KEY", 0o644, 0o640, ""},
		{"a file with tokens", token, 0o644, 0o600, "c.hcl, with the hashes of tokens"},
		{"a file with tokens of one's own", token, 0o640, 0o600, ""},
		{"a file that everybody writes", "", 0o646, 0o600, "may write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, key := filepath.Join(dir, "c.hcl"), filepath.Join(dir, "server.key")
			tls := "tls {\n certificate = \"" + dir + "/server.pem\"\n key = \"" + key + "\"\n}\n"
			text := plain + "http {\n" + strings.Replace(c.http, "KEY", tls, 1) + "}\n"
			for file, mode := range map[string]os.FileMode{path: c.file, key: c.key} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				os.Chmod(file, mode)
			}
			for _, path := range []string{path, dir} { // a folder of files likewise
				var out bytes.Buffer
				if err := Run(io.Discard, &out, path, Options{}, func(*conf.Config) (wrong, cannot error) { return nil, nil }); err != nil {
					t.Fatalf("%v\n%s", err, &out)
				}
				if got := out.String(); strings.Contains(got, "everybody") != (c.want != "") || !strings.Contains(got, c.want) {
					t.Errorf("%s: %s", path, got)
				}
			}
		})
	}
}
