// Diagnose: what is wrong with a configuration, in the form of the log.

package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"intsink/conf"
)

// Diagnose writes d where log writes, w: as people read it, with the lines of the file, where the log is text; as
// lines of the log where programs take it apart. "at" is file:line:column then.
func Diagnose(log *slog.Logger, w io.Writer, d *conf.Diagnostics) {
	if _, text := log.Handler().(*slog.TextHandler); text {
		d.WriteTo(w)
		return
	}
	for _, list := range [][]conf.Diagnostic{d.Errors, d.Warnings} {
		if len(list) == 0 {
			continue
		}
		for _, x := range list {
			level, at := slog.LevelError, x.File
			if x.Severity == conf.Warning {
				level = slog.LevelWarn
			}
			if x.Line > 0 {
				at = fmt.Sprintf("%s:%d:%d", x.File, x.Line, x.Column)
			}
			log.Log(context.Background(), level, "configuration: "+x.Message, "at", at)
		}
		if more := d.Count(list[0].Severity) - len(list); more > 0 {
			log.Warn(fmt.Sprintf("configuration: and %d more %ss", more, list[0].Severity))
		}
	}
}
