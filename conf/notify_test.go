package conf

import (
	"strings"
	"testing"
)

// TestNotifyIsSecret: who may only read sees no URL of notify, nor does the answer of a reload.
func TestNotifyIsSecret(t *testing.T) {
	c, d := Parse("test.hcl", []byte(base+`notify "ops" { url = "https://hooks.example.net/T0K3N" }`+"\n"))
	if c == nil {
		t.Fatal(d.Err())
	}
	if text := string(c.DumpWithoutSecrets()); strings.Contains(text, "T0K3N") || !strings.Contains(text, `notify "ops" {`) || c.Notify[0].URL != "https://hooks.example.net/T0K3N" {
		t.Errorf("%s", text)
	}
	other := *c
	other.Notify = []Notify{{"ops", "https://hooks.example.net/other", c.Notify[0].Timeout}}
	if got := Diff(c, &other); len(got) != 1 || got[0].Path != `notify "ops".url` || got[0].Old != hidden || got[0].New != hidden {
		t.Errorf("%+v", got)
	}
}
