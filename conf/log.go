// Block log, whole: how a running sink writes its log.

package conf

import "intsink/conf/schema"

// Log is how a running sink writes its log, to stderr.
type Log struct {
	Format LogFormat
	Level  LogLevel
}

// LogFormat is log.format: how lines of the log are written.
type LogFormat string

// The values of log.format.
const (
	AutoLog    LogFormat = "auto" // journal where systemd reads it, else text, or json of services
	TextLog    LogFormat = "text"
	JSONLog    LogFormat = "json"
	JournalLog LogFormat = "journal"
)

// LogLevel is log.level: lines below it are not written.
type LogLevel string

// The values of log.level.
const (
	DebugLog LogLevel = "debug"
	InfoLog  LogLevel = "info"
	WarnLog  LogLevel = "warn"
	ErrorLog LogLevel = "error"
)

func visitLog(v schema.Visitor, l *Log) {
	v.Attr("format", schema.Choice(&l.Format, AutoLog, TextLog, JSONLog, JournalLog))
	v.Attr("level", schema.Choice(&l.Level, DebugLog, InfoLog, WarnLog, ErrorLog))
}
