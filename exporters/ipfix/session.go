// session: messages of one transport session, with the templates and sequence numbers of its observation domains.

package ipfix

import (
	"encoding/binary"
	"time"

	"intsink/exporters/record"
)

// domain is an observation domain of a session.
type domain struct {
	sequence uint32 // data records that were sent, modulo 2^32
	told     map[record.FlowGroups]telling
	from     uint16 // whose reports had the node first, as Batch.From
	used     uint64 // the number of the message that it was used in last
}

// telling is when a template was told, and whether it was before.
type telling struct {
	at    time.Time
	again bool
}

// maxDomains bounds the observation domains of a session. For a further one goes the one that was used longest ago of the exporter that
// has most of them: whoever sends reports makes nodes up. It begins anew where its node comes again.
const maxDomains = 512

// session makes messages. Its fields name the message that it fills.
type session struct {
	enterprise uint32        // of fields that IANA does not have; 0: those stay away
	limit      int           // bytes of a message
	repeat     time.Duration // after which a template is told again; 0: never
	now        func() time.Time
	write      func(message []byte) error
	domains    map[uint32]*domain

	messages uint64         // that were begun
	owned    map[uint16]int // domains by exporter

	message []byte
	id      uint32  // of the domain
	of      *domain // nil: there is no message
	records uint32
	set     int               // where the open data set begins; 0: none is open
	groups  record.FlowGroups // its template
}

const (
	headerLength    = 16
	setHeaderLength = 4
	templateSet     = 2
	firstTemplate   = 256
)

var be = binary.BigEndian

// add puts the data record of a node into the message; from is whose report it is of, flow what record.AppendFlow made. It writes the
// message first where it is of another domain, or full.
func (s *session) add(node uint32, from uint16, flow []byte) error {
	groups, data := record.FlowGroups(be.Uint16(flow)), flow[2:]
	if s.enterprise == 0 {
		groups &^= record.OwnFlowGroups
		data = data[:groups.Length()]
	}
	if s.of != nil && s.id != node || s.of != nil && len(s.message)+s.need(groups, data) > s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.begin(node, from)
	if s.due(groups) {
		s.tell(groups)
	}
	if s.set == 0 || s.groups != groups {
		s.open(templateID(groups))
		s.groups = groups
	}
	s.message = append(s.message, data...)
	s.records++
	return nil
}

// need is the most bytes that a record and its template add to the message.
func (s *session) need(groups record.FlowGroups, data []byte) int {
	n := len(data)
	if s.set == 0 || s.groups != groups {
		n += setHeaderLength
	}
	if s.due(groups) {
		n += 3*setHeaderLength + 8*fields(groups)
	}
	return n
}

func fields(groups record.FlowGroups) (n int) {
	for range groups.Fields {
		n++
	}
	return n
}

// templateID is 256 and more. The first group, which all have, is no part of it.
func templateID(groups record.FlowGroups) uint16 { return firstTemplate + uint16(groups>>1) }

// begin begins a message where there is none.
func (s *session) begin(id uint32, from uint16) {
	if s.of != nil {
		return
	}
	if s.domains == nil {
		s.domains, s.owned = map[uint32]*domain{}, map[uint16]int{}
	}
	if s.of = s.domains[id]; s.of == nil {
		if len(s.domains) >= maxDomains {
			s.makeRoom()
		}
		s.of = &domain{told: map[record.FlowGroups]telling{}, from: from}
		s.domains[id] = s.of
		s.owned[from]++
	}
	s.messages++
	s.of.used = s.messages
	s.id, s.records, s.set = id, 0, 0
	s.message = append(s.message[:0], make([]byte, headerLength)...)
}

// makeRoom forgets a domain.
func (s *session) makeRoom() {
	most, oldest, first := uint16(0), uint32(0), uint64(0)
	for from, n := range s.owned {
		if n > s.owned[most] || n == s.owned[most] && from < most {
			most = from
		}
	}
	for id, d := range s.domains {
		if d.from == most && (first == 0 || d.used < first) {
			oldest, first = id, d.used
		}
	}
	delete(s.domains, oldest)
	if s.owned[most]--; s.owned[most] == 0 {
		delete(s.owned, most)
	}
}

// soonAgain is when a new template is told for the second time over UDP: the first may be lost, and a collector that reads by several
// workers may read it behind the data that came after it.
const soonAgain = time.Second

// due reports whether the template has to be told before a record: not within a set, which began with that question.
func (s *session) due(groups record.FlowGroups) bool {
	if s.set != 0 && s.groups == groups {
		return false
	}
	last, told := s.of.told[groups]
	if !told || s.repeat == 0 {
		return !told
	}
	since := s.now().Sub(last.at)
	return since >= s.repeat || !last.again && since >= soonAgain
}

// tell puts the template into the message.
func (s *session) tell(groups record.FlowGroups) {
	s.open(templateSet)
	s.message = be.AppendUint16(s.message, templateID(groups))
	s.message = be.AppendUint16(s.message, uint16(fields(groups)))
	for f := range groups.Fields {
		if !f.Own {
			s.message = be.AppendUint16(be.AppendUint16(s.message, f.ID), f.Length)
			continue
		}
		s.message = be.AppendUint16(be.AppendUint16(s.message, f.ID|1<<15), f.Length)
		s.message = be.AppendUint32(s.message, s.enterprise)
	}
	s.close()
	_, again := s.of.told[groups]
	s.of.told[groups] = telling{s.now(), again}
}

// open begins a set, and ends the one before.
func (s *session) open(id uint16) {
	s.close()
	s.set = len(s.message)
	s.message = be.AppendUint16(be.AppendUint16(s.message, id), 0)
}

// close writes the length of the set.
func (s *session) close() {
	if s.set > 0 {
		be.PutUint16(s.message[s.set+2:], uint16(len(s.message)-s.set))
	}
	s.set = 0
}

// flush writes the message, if there is one.
func (s *session) flush() error {
	if s.of == nil {
		return nil
	}
	s.close()
	m := s.message
	be.PutUint16(m, 10)
	be.PutUint16(m[2:], uint16(len(m)))
	be.PutUint32(m[4:], uint32(s.now().Unix()))
	be.PutUint32(m[8:], s.of.sequence) // of the records before this message
	be.PutUint32(m[12:], s.id)
	s.of.sequence += s.records
	s.of = nil
	return s.write(m)
}
