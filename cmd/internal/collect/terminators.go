// Terminators of IFA: from the configuration to what collect takes, and its metrics.

package collect

import (
	"fmt"

	"intsink/conf/collector"
	"intsink/exporters/collect"
	"intsink/exporters/ipfix/message"
	"intsink/exporters/record"
)

func terminatorsOf(t *collector.Terminators) *collect.IPFIX {
	if t == nil {
		return nil
	}
	element := func(id int) message.Element {
		return message.Element{Enterprise: uint32(t.Enterprise), ID: uint16(id)}
	}
	return &collect.IPFIX{Lifetime: t.Templates, Wanted: message.Wanted{
		record.IFAHeaders: element(t.Headers), record.IFAStack: element(t.Stack), record.IFAPacket: element(t.Packet),
	}}
}

// writeTerminators writes what was in the messages of terminators; nothing where no listen takes them.
func writeTerminators(e exposition, listens []collect.ListenSnapshot) {
	var rows []collect.ListenSnapshot
	for _, l := range listens {
		if l.Terminators != nil {
			rows = append(rows, l)
		}
	}
	if len(rows) == 0 {
		return
	}
	each := func(write func(l *collect.TerminatorSnapshot, name string)) {
		for _, l := range rows {
			write(l.Terminators, fmt.Sprintf("listen=%q", l.Name))
		}
	}
	e.metric("ipfix_data_records_total", "counter", "Data records of IPFIX that were read, by what they are.")
	each(func(l *collect.TerminatorSnapshot, name string) {
		for is, n := range l.Fates() {
			e.value("ipfix_data_records_total", fmt.Sprintf("%s,is=%q", name, collect.Fate(is)), float64(n))
		}
	})
	e.metric("ipfix_unread_total", "counter", "Sets and templates of IPFIX that were not read, by reason.")
	each(func(l *collect.TerminatorSnapshot, name string) {
		for r, n := range l.Unread {
			e.value("ipfix_unread_total", fmt.Sprintf("%s,reason=%q", name, message.Unread(r)), float64(n))
		}
	})
	e.metric("ipfix_templates_total", "counter", "Templates of IPFIX that were told, for the first time or again.")
	each(func(l *collect.TerminatorSnapshot, name string) {
		e.value("ipfix_templates_total", name, float64(l.Templates))
	})
	e.metric("ipfix_templates", "gauge", "Templates of IPFIX that are known.")
	each(func(l *collect.TerminatorSnapshot, name string) { e.value("ipfix_templates", name, float64(l.Known)) })
}
