package logging

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"

	"intsink/conf"
)

func TestDiagnose(t *testing.T) {
	d := &conf.Diagnostics{
		Errors:   []conf.Diagnostic{{Severity: conf.Error, File: "c.hcl", Line: 2, Column: 8, Message: "no attribute is called idd", Snippet: "  node { idd = 2 }\n         ^^^"}},
		Warnings: []conf.Diagnostic{{Severity: conf.Warning, File: "c.hcl", Message: "nobody collects"}},
	}
	for format, want := range map[conf.LogFormat]string{
		conf.TextLog:    "c.hcl:2:8: error: no attribute is called idd\n  node { idd = 2 }\n         ^^^\nc.hcl: warning: nobody collects\n",
		conf.JSONLog:    `{"level":"ERROR","msg":"configuration: no attribute is called idd","at":"c.hcl:2:8"}` + "\n" + `{"level":"WARN","msg":"configuration: nobody collects","at":"c.hcl"}` + "\n",
		conf.JournalLog: "<3>configuration: no attribute is called idd at=c.hcl:2:8\n<4>configuration: nobody collects at=c.hcl\n",
	} {
		var b bytes.Buffer
		Diagnose(slog.New(New(conf.Log{Format: format}, &b)), &b, d)
		if got := regexp.MustCompile(`"time":"[^"]*",`).ReplaceAllString(b.String(), ""); got != want {
			t.Errorf("%s: wrote\n%s\nwant\n%s", format, got, want)
		}
	}
}
