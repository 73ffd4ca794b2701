// When: times as people write them.

package cli

import "time"

// TimeForms says how a time may be written, for messages.
const TimeForms = "a time such as 2026-11-22T03:31:09Z or 03:31:09 (UTC, the last one), or how long ago it was, such as 10m"

// When is the time that s says; ok: it is one of TimeForms.
func When(s string, now time.Time) (t time.Time, ok bool) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	const clock = "15:04:05"
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateTime + " UTC", clock, clock + " UTC"} {
		if t, err := time.Parse(layout, s); err == nil {
			return lastOf(t, now), true
		}
	}
	return t, false
}

// lastOf puts a time without a date, as texts print it, on the last day on which it has been.
func lastOf(t, now time.Time) time.Time {
	if t.Year() != 0 {
		return t
	}
	year, month, day := now.UTC().Date()
	t = time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if t.After(now) {
		t = t.Add(-24 * time.Hour)
	}
	return t
}
