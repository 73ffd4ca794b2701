// The JSON of mitigation rules: Request, Life, Rule; checks a request.

package mitigation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/packetmatch"
	"intsink/engine/aside/mitigate"
	"intsink/engine/selector"
)

// Request is the JSON that adds a rule.
type Request struct {
	Match   packetmatch.Match `json:"match"`
	Action  string            `json:"action"`         // "count", "drop", "police"
	Rate    uint64            `json:"rate,omitempty"` // bits per second of whole frames, to police
	TTL     Life              `json:"ttl"`
	Comment string            `json:"comment,omitempty"`
}

// Rule is the JSON of a rule that is in force, or was when it was removed.
type Rule struct {
	ID uint64 `json:"id"`
	Request
	By             string    `json:"by"`
	Created        time.Time `json:"created"`
	Expires        time.Time `json:"expires"`
	Packets        uint64    `json:"packets"` // how many packets it has selected
	Bytes          uint64    `json:"bytes"`
	DroppedPackets uint64    `json:"dropped_packets"`
	DroppedBytes   uint64    `json:"dropped_bytes"`
}

// List is the answer of GET /api/v1/mitigations.
type List struct {
	Rules    []Rule   `json:"rules"`
	Capacity int      `json:"capacity"`
	Links    []string `json:"links"` // with mitigation = true
}

// Life is how long a rule lasts: a duration in quotes, or seconds.
type Life time.Duration

// Bounds of a rule's life.
const (
	minLife = time.Second
	maxLife = time.Duration(mitigate.MaxLife)
)

// UnmarshalJSON implements json.Unmarshaler.
func (l *Life) UnmarshalJSON(b []byte) error {
	text := string(b)
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		*l = Life(time.Duration(seconds) * time.Second)
		return nil
	}
	if json.Unmarshal(b, &text) != nil {
		return control.WrongField("ttl", ` = %.40s: must be such as "10m", or a number of seconds`, b)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return control.WrongField("ttl", ` = %.40q: must be such as "10m", or a number of seconds`, text)
	}
	*l = Life(d)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (l Life) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(l).String()) }

const maxComment = 200

// compile checks r, and returns its match and action in the form that workers use.
func (r *Request) compile() (m selector.Match, a mitigate.Action, err error) {
	if m, err = r.Match.Compile(); err != nil {
		return m, a, err
	}
	a, ok := mitigate.ActionOf(r.Action)
	ttl := time.Duration(r.TTL)
	switch {
	case !ok:
		err = control.WrongField("action", ` = %.40q: must be "count", "drop" or "police"`, r.Action)
	case a == mitigate.Police && (r.Rate < mitigate.MinRate || r.Rate > mitigate.MaxRate):
		err = control.WrongField("rate", " = %d: to police takes a rate of %d to %d bits per second", r.Rate, uint64(mitigate.MinRate), uint64(mitigate.MaxRate))
	case a != mitigate.Police && r.Rate != 0:
		err = control.WrongField("rate", ` = %d: goes with the action "police" alone`, r.Rate)
	case ttl == 0:
		err = control.WrongField("ttl", ` is missing: say how long the rule is to last, such as "10m"`)
	case ttl < minLife || ttl > maxLife:
		err = control.WrongField("ttl", " = %q: must be from 1s to 720h", ttl)
	case len(r.Comment) > maxComment || strings.ContainsFunc(r.Comment, unicode.IsControl):
		err = control.WrongField("comment", ": must be at most %d bytes without control characters", maxComment)
	}
	return m, a, err
}

// detail returns the rule as the log shows it.
func (r *Rule) detail() string {
	b, _ := json.Marshal(r.Match) // texts alone: never fails
	rate := ""
	if r.Rate > 0 {
		rate = fmt.Sprintf(" to %d bit/s", r.Rate)
	}
	return fmt.Sprintf("rule %d: %s%s %s for %v, comment %q", r.ID, r.Action, rate, b, time.Duration(r.TTL), r.Comment)
}
