// Match: which packets somebody asks for, as JSON and as flags.

// Package packetmatch is how packets are selected by what they are: in requests of the API and flags of commands, for
// all that may ask for packets.
package packetmatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Match says which packets a rule or a capture selects. In JSON a list may be a single text or number.
type Match struct {
	Source          Texts `json:"source,omitempty"`
	Destination     Texts `json:"destination,omitempty"`
	Protocol        Texts `json:"protocol,omitempty"`
	SourcePort      Texts `json:"source_port,omitempty"`
	DestinationPort Texts `json:"destination_port,omitempty"`
	DeviceID        Texts `json:"device_id,omitempty"`
	SourceMAC       Texts `json:"source_mac,omitempty"`
}

// Texts is a list of texts and numbers.
type Texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	*t = nil
	for _, x := range list {
		switch x := x.(type) {
		case string:
			*t = append(*t, x)
		case json.Number:
			*t = append(*t, x.String())
		default:
			return fmt.Errorf("%.40s: must be a text, a number, or a list of such", b)
		}
	}
	return nil
}

// Text returns the match in the names of the flags.
func (m *Match) Text() string {
	var parts []string
	for _, f := range []struct {
		name  string
		texts Texts
	}{
		{"source", m.Source}, {"destination", m.Destination}, {"protocol", m.Protocol}, {"source-port", m.SourcePort},
		{"destination-port", m.DestinationPort}, {"device-id", m.DeviceID}, {"source-mac", m.SourceMAC},
	} {
		if len(f.texts) > 0 {
			parts = append(parts, f.name+"="+strings.Join(f.texts, ","))
		}
	}
	return strings.Join(parts, " ")
}

// AddFlags defines the flags --source to --source-mac, which say what packets a rule or a capture matches. Each may be given several times.
func (m *Match) AddFlags(f *pflag.FlagSet) {
	for _, x := range []struct {
		name, usage string
		texts       *Texts
	}{
		{"source", "source address or prefix", &m.Source},
		{"destination", "destination address or prefix", &m.Destination},
		{"protocol", "tcp, udp, icmp, icmpv6, sctp, gre, esp or a number", &m.Protocol},
		{"source-port", "source port, or a range such as 8000-8099", &m.SourcePort},
		{"destination-port", "destination port, or a range", &m.DestinationPort},
		{"device-id", "domain specific metadata with the role device_id", &m.DeviceID},
		{"source-mac", "source address of the Ethernet header", &m.SourceMAC},
	} {
		f.StringSliceVar((*[]string)(x.texts), x.name, nil, x.usage)
	}
}
