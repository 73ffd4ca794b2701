// Measures goflow2, a collector of sFlow and NetFlow, between the same ends: UDP socket and Kafka.

package main

import (
	"encoding/binary"
	"os/exec"
)

// goflow2Row returns a row of goflow2, which makes a record of each flow sample of sFlow, in a
// format of its own. It flushes every 10 ms as we do, and compresses with lz4. Its socket has the
// kernel's default buffer: what is lost there counts for nothing.
func goflow2Row(name, program, format string) row {
	p, number := sflow()
	return row{name: name, packet: p, number: number, series: "goflow2_flow_process_sf_total", counts: 1, pace: 4000,
		start: func(broker, dir string) (*exec.Cmd, error) {
			cmd := exec.Command(program, "-listen", "sflow://"+address, "-addr", metrics, "-format", format, "-loglevel", "error",
				"-transport", "kafka", "-transport.kafka.brokers", broker, "-transport.kafka.topic", "intsink.reports.v1",
				"-transport.kafka.compression", "lz4", "-transport.kafka.flushfreq", "10ms")
			return cmd, nil
		}}
}

// sflow returns a datagram of sFlow 5 (sflow.org/sflow_version_5.txt) with as many flow samples as
// our packets have reports, each with the first 64 bytes of a packet of TCP.
func sflow() (p []byte, number func(p []byte, n uint32)) {
	be := binary.BigEndian
	frame := make([]byte, 64)
	copy(frame, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0x05, 0xdc, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x9c, 0x40, 0, 80})
	words := func(b []byte, all ...uint32) []byte {
		for _, w := range all {
			b = be.AppendUint32(b, w)
		}
		return b
	}
	p = words(nil, 5, 1, 10<<24|1, 0, 0, 0, perPacket) // version, agent 10.0.0.1, sub-agent, sequence, uptime, samples
	const record = 16 + 64
	const sample = 32 + 8 + record
	var ports []int
	for range perPacket {
		p = words(p, 1, sample)                 // flow sample
		p = words(p, 0, 3, 1000, 0, 0, 1, 2, 1) // sequence, source, rate, pool, drops, input, output, records
		p = words(p, 1, record, 1, 1500, 4, 64) // raw packet header: Ethernet, length, stripped, bytes
		ports = append(ports, len(p)+14+20)
		p = append(p, frame...)
	}
	return p, func(p []byte, n uint32) {
		be.PutUint32(p[16:], n)
		for _, at := range ports {
			be.PutUint16(p[at:], uint16(n))
		}
	}
}
