// Makes an inthdr.Config of block int of the sink's configuration, and an event.NodeModel
// of each block node_model.

package sinkconf

import (
	"slices"

	"intsink/conf"
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// INT converts block int into the configuration of the parser of INT.
func INT(c *conf.INT) inthdr.Config {
	out := inthdr.Config{
		UDPPort:       c.UDPPort,
		ProbeMarker:   c.ProbeMarker,
		ProbePorts:    c.ProbePorts,
		BeforeOptions: c.TCPOptions == conf.INTBeforeOptions,
		GREProtocol:   c.GREProtocol,
		Version2:      slices.Contains(c.Versions, "2"),
		Version1:      slices.Contains(c.Versions, "1"),
		Version0:      slices.Contains(c.Versions, "0"),
		Outer:         c.Layer == conf.Outermost,
		Fragments:     c.Fragments == conf.StripFragments,
		GEANT:         c.INT1Dialect == conf.GEANTINT1,
		ShimInclusive: c.ShimLength == conf.ShimInclusive,
		KeepChecksum:  c.Checksum == conf.KeepChecksum,
		Formats:       formatsOf(&c.Formats),
	}
	for t := range out.Ignored {
		if t := inthdr.Type(t); t.Known() && t.OfINT() {
			out.Ignored[t] = !slices.Contains(c.Types, t.String())
		}
	}
	for _, d := range c.DSCP {
		out.DSCP = append(out.DSCP, inthdr.DSCP(d))
	}
	if c.VXLANGPE != nil {
		out.VXLANGPE = &inthdr.VXLANGPE{Port: c.VXLANGPE.Port, NextProtocol: c.VXLANGPE.NextProtocol}
	}
	if c.Geneve != nil {
		out.Geneve = &inthdr.Geneve{Port: c.Geneve.Port, OptionClass: c.Geneve.OptionClass}
	}
	if m := c.Match; m != nil && len(m.VLAN)+len(m.Prefix) > 0 {
		out.Only = &inthdr.Only{VLANs: m.VLAN, Prefixes: m.Prefix}
	}
	for i := range c.Domains {
		d := inthdr.Domain{ID: c.Domains[i].ID}
		for _, in := range c.Domains[i].Instructions {
			d.Bits[in.Bit].Length = in.Length
			d.Bits[in.Bit].SourceOnly = in.Scope != conf.EachHop
			d.Bits[in.Bit].Role = roles[in.Role]
		}
		out.Domains = append(out.Domains, d)
	}
	return out
}

// Readers converts all blocks int into what readers of reports take: any of them may have marked the INT of a packet,
// whose tag a report need not show, and of fragments all is to be seen.
func Readers(c *conf.Config) (all []inthdr.Config) {
	for _, x := range c.INTs() {
		out := INT(x)
		out.Fragments, out.Only = true, nil
		all = append(all, out)
	}
	return all
}

var roles = map[conf.Role]inthdr.Role{conf.SequenceRole: inthdr.Sequence, conf.DeviceIDRole: inthdr.DeviceID, conf.TTLRole: inthdr.TTL}

// fullSize is how long the frame of a packet of 1,500 bytes is.
const fullSize = 1518

// packetOf is what a packet of full size takes of the queues of a node, in the unit of thresholds: known where they count bytes.
func packetOf(m *conf.NodeModel) uint32 {
	if m.QueueUnit.Name == "bytes" || m.QueueUnit.Name == "" && m.BufferUnit.Name == "bytes" {
		return fullSize
	}
	return 0
}

// NodeModels converts the blocks node_model into the models of package event.
func NodeModels(models []conf.NodeModel) []event.NodeModel {
	var out []event.NodeModel
	for i := range models {
		m := &models[i]
		out = append(out, event.NodeModel{
			Nodes:         m.Nodes,
			LatencyUnit:   uint32(m.LatencyUnit),
			QueueUnit:     max(m.QueueUnit.Size, 1),
			BufferUnit:    max(m.BufferUnit.Size, 1),
			Packet:        packetOf(m),
			TxFull:        m.TxFull,
			TimestampBits: m.TimestampBits,
			TimestampUnit: uint32(m.TimestampUnit),
			Unix:          m.TimestampEpoch == conf.UnixEpoch,
		})
	}
	return out
}
