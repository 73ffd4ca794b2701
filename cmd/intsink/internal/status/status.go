// Declares the structs of the JSON of /api/v1/status.

// Package status is the JSON of GET /api/v1/status, for the server that makes it and the
// commands that read it.
package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
)

// Status is the answer of GET /api/v1/status: the counters of /metrics as one tree, and the
// configuration of each part.
type Status struct {
	Now        time.Time         `json:"now"`
	Started    time.Time         `json:"started"`
	Version    string            `json:"version"`
	Node       uint32            `json:"node"`
	Ready      string            `json:"ready"`  // "ok", or why not
	Socket     string            `json:"socket"` // which takes what changes something, from root; "": there is none
	Mode       *Mode             `json:"mode"`   // null: always full
	Config     *Config           `json:"config"` // null: there is no file that could be read again
	Degraded   []Degraded        `json:"degraded"`
	Writes     []Write           `json:"writes"` // the last 100 requests that changed something on the socket, as many over TCP, and that were refused; the oldest first
	Links      []Link            `json:"links"`
	Events     map[string]uint64 `json:"events"`     // entered, reported or not
	Suppressed map[string]uint64 `json:"suppressed"` // withheld by a rate, an interval or a quota
	Lacking    map[string]uint64 `json:"lacking"`    // new flows whose INT does not carry a value that a watched event needs, by value
	Collectors []Collector       `json:"collectors"`
	Workers    []Worker          `json:"workers"`
	Ports      []Port            `json:"ports"`
	ClockSkew  uint64            `json:"clock_skew"` // latencies that were withheld because they came out negative, or a clock is wrong
	WaySkew    uint64            `json:"-"`          // of these, those of whole ways
	OddValues  []OddValues       `json:"odd_values"` // nodes whose IFA has residence times that cannot be
	Replaced   bool              `json:"replaced"`   // the program's file is another one than runs
	Mbufs      int               `json:"mbufs"`
	MbufsInUse int               `json:"mbufs_in_use"`

	Sinks []Sink `json:"sinks,omitempty"` // of a collector over all sinks: which it asks
}

// Sink is one of the sinks that a collector asks.
type Sink struct {
	Sink    string  `json:"sink"`    // its address
	Answers bool    `json:"answers"` //
	Why     *string `json:"why"`     // it does not
}

// Write is a request to change something.
type Write struct {
	Time   time.Time `json:"time"`
	Who    string    `json:"who"`
	What   string    `json:"what"`   // method and path
	Result string    `json:"result"` // as in intsink_api_writes_total
	Detail string    `json:"detail"` // what was done, or why not; the beginning of it
}

// Degraded is a part that does not work as the configuration asks for; it is tried again each second.
type Degraded struct {
	Part  string    `json:"part"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Config is which configuration is in force.
type Config struct {
	Path       string    `json:"path"`
	Generation uint64    `json:"generation"` // 1 at start, one more with each reload
	SHA256     string    `json:"sha256"`     // of the file as it was read
	Since      time.Time `json:"since"`
	LastReload *Reload   `json:"last_reload"` // null: there was none
	Trial      *Trial    `json:"trial"`       // null: it is on none

	LastTrial *EndedTrial `json:"last_trial"` // null: none has ended since the start
}

// Trial is a configuration, or a program, that goes by itself unless somebody confirms it.
type Trial struct {
	Until  time.Time `json:"until"`
	BackTo uint64    `json:"back_to"` // generation whose configuration comes back; of a program: 0
	By     string    `json:"by"`

	Program string `json:"program,omitempty"` // version of the program that comes back; absent: a configuration is on trial
}

// Of says what is on trial, and what comes back.
func (t *Trial) Of() (what, before string) {
	if t.Program != "" {
		return "the program", "program " + t.Program
	}
	return "the configuration", fmt.Sprintf("generation %d", t.BackTo)
}

// EndedTrial is a trial that has ended.
type EndedTrial struct {
	Generation uint64    `json:"generation"` // that was on trial
	BackTo     uint64    `json:"back_to"`    // whose configuration is in force again, unless it was confirmed
	Result     string    `json:"result"`     // as in intsink_config_trials_total
	Why        string    `json:"why"`
	Ended      time.Time `json:"ended"`
	By         string    `json:"by"` // who had asked for it

	Program string `json:"program,omitempty"` // version of the program that came back, unless it was confirmed; absent: a configuration was on trial
	Tried   string `json:"tried,omitempty"`   // version of the program that was on trial
}

// Text says how the trial ended, in a line.
func (t *EndedTrial) Text() string {
	at := t.Ended.Format(time.RFC3339)
	switch {
	case t.Program != "" && t.Result == "confirmed":
		return fmt.Sprintf("this program was on trial until %s: %s", at, t.Why)
	case t.Program != "":
		return fmt.Sprintf("the program %s was on trial, and %s came back at %s: %s", t.Tried, t.Program, at, t.Why)
	}
	if t.Result == "confirmed" {
		return fmt.Sprintf("generation %d was on trial until %s: %s", t.Generation, at, t.Why)
	}
	return fmt.Sprintf("generation %d was on trial, and generation %d's configuration came back at %s: %s", t.Generation, t.BackTo, at, t.Why)
}

// InForce tells whether what the trial left is still in force: there was no reload since.
func (t *EndedTrial) InForce(generation uint64) bool {
	if t.Program != "" {
		return generation == 1
	}
	if t.Result == "confirmed" {
		return generation == t.Generation
	}
	return generation == t.Generation+1
}

// Mode is how much is done with packets: "full", "strip", "pass" or "bypass".
type Mode struct {
	Mode     string    `json:"mode"` // in force: the lowest of the next two
	Asked    string    `json:"asked"`
	Overload string    `json:"overload"` // what the load of the workers asks for
	Since    time.Time `json:"since"`    // of mode
	Why      string    `json:"why"`      // what made it so, "" at start
	Switch   *Switch   `json:"switch"`   // null: no bypass { command }
}

// Text says which mode is in force, and what the bypass switch is at.
func (m *Mode) Text() string {
	text := m.Mode
	if m.Why != "" {
		text += ", " + m.Why
	}
	if m.Switch != nil {
		text += "; bypass switch: " + m.Switch.State
		if m.Switch.Error != "" {
			text += ", its command failed: " + m.Switch.Error
		}
	}
	return text
}

// Switch is the bypass switch, as far as its command told.
type Switch struct {
	State string `json:"state"`           // "inline", "bypass", "unknown"
	Why   string `json:"why,omitempty"`   // of "bypass"
	Error string `json:"error,omitempty"` // of the last command, where it failed
}

// Reload is what became of a reload.
type Reload struct {
	OK    bool      `json:"ok"`
	Time  time.Time `json:"time"`
	By    string    `json:"by"`
	Error string    `json:"error,omitempty"` // why it was refused
}

// OddValues are those that a node wrote, and that cannot be.
type OddValues struct {
	Node  uint32  `json:"node"`
	Hops  uint64  `json:"hops"`
	Share float64 `json:"share"` // of packets with IFA
}

// Link is a link or a tap.
type Link struct {
	Name       string            `json:"name"`
	Kind       string            `json:"kind"` // "link" or "tap"
	Directions []Direction       `json:"directions"`
	INT        map[string]uint64 `json:"int"`
	ECNMarked  uint64            `json:"ecn_marked"` // of these packets, those that came with the mark of a queue (CE)
	Malformed  map[string]uint64 `json:"malformed"`
	NoLayout   map[string]uint64 `json:"no_layout,omitempty"` // packets with IFA whose hops have no layout, by namespace
	Verified   map[string]uint64 `json:"verified"`            // INT packets whose checksums were verified, by result
	LastBad    *BadPacket        `json:"last_bad"`            // the last one that was bad; null: there was none
	Leaked     uint64            `json:"leaked"`
	Marked     map[string]uint64 `json:"marked"` // packets of hosts that bore the mark of INT without INT, by what became of them
}

// NoLayoutLine says which namespaces of IFA have no layout; "" where all have one.
func NoLayoutLine(none map[string]uint64) string {
	if len(none) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(none)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", name, cli.Count(int(none[name]), "packet")))
	}
	return "no layout of hops is known of " + strings.Join(parts, ", ") + ": a block hop in int.ifa says how they are laid out"
}

// BadPacket is an INT packet whose checksum was right as it came, and wrong as it left.
type BadPacket struct {
	Time time.Time `json:"time"`
	Flow string    `json:"flow"`
}

// Direction is what went one way through a link: received = forwarded + the sum of dropped.
type Direction struct {
	Direction string            `json:"direction"`
	Received  uint64            `json:"received"`
	Forwarded uint64            `json:"forwarded"`
	Dropped   map[string]uint64 `json:"dropped"`
}

// Collector is where reports go.
type Collector struct {
	Name          string            `json:"name"`
	Address       string            `json:"address"`
	Reports       uint64            `json:"reports"`
	Packets       uint64            `json:"packets"`
	PacketsSent   uint64            `json:"packets_sent"`
	BytesSent     uint64            `json:"bytes_sent"`
	Dropped       map[string]uint64 `json:"dropped"`
	Shed          map[string]uint64 `json:"shed"`
	BudgetPackets uint64            `json:"budget_packets"` // per second; 0: no limit
	BudgetBits    uint64            `json:"budget_bits"`
	BudgetReports uint64            `json:"budget_reports"`
	GatewayKnown  *bool             `json:"gateway_known"` // null: the kernel sends
	Losing        *Losing           `json:"losing"`        // null: nothing is lost now
}

// Losing is why report packets to a collector are being lost.
type Losing struct {
	Since   time.Time `json:"since"`
	Reasons []string  `json:"reasons"`
}

// Worker is one polling thread.
type Worker struct {
	Name             string            `json:"name"`
	Lcore            int               `json:"lcore"`
	Flows            uint64            `json:"flows"`
	FlowCapacity     int               `json:"flow_capacity"`
	Evictions        uint64            `json:"evictions"`
	Refusals         uint64            `json:"refusals"`
	LongestPollGapNs int64             `json:"longest_poll_gap_ns"`
	PollGapsOver     map[string]uint64 `json:"poll_gaps_over"`
	RefreshStretch   float64           `json:"refresh_stretch"` // 1: as configured
}

// Port is a port with its driver's counters.
type Port struct {
	Name        string `json:"name"`
	Device      string `json:"device"`
	LinkUp      bool   `json:"link_up"`
	LinkDown    string `json:"link_down,omitempty"` // what is wrong with it
	LinkChanges uint64 `json:"link_changes"`
	RxPackets   uint64 `json:"rx_packets"`
	TxPackets   uint64 `json:"tx_packets"`
	RxBytes     uint64 `json:"rx_bytes"`
	TxBytes     uint64 `json:"tx_bytes"`
	RxMissed    uint64 `json:"rx_missed"`
	RxErrors    uint64 `json:"rx_errors"`
	TxErrors    uint64 `json:"tx_errors"`
	RxNoMbuf    uint64 `json:"rx_nombuf"`
	RxTruncated uint64 `json:"rx_truncated"`
	RxUncut     uint64 `json:"rx_uncut"` // joined by the kernel in a way that cannot be undone
}
