// Serves /aggAttack of Transparent Security: rules against attacks by source MAC, address and
// port.

package mitigation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/packetmatch"
)

// attackLife is how long an attack is dropped, unless the request is repeated: Transparent
// Security's requests do not say how long.
const attackLife = 10 * time.Minute

// attack holds the fields of Transparent Security's requests that select the packets of an
// attack.
type attack struct {
	mac  uint64
	text string // of mac, as it was written
	ip   netip.Addr
	port uint16
}

// same tells whether b is the same attack.
func (a *attack) same(b *attack) bool { return a.mac == b.mac && a.ip == b.ip && a.port == b.port }

// fields are what attackOf makes a of; nil for none.
func (a *attack) fields() map[string]string {
	if a == nil {
		return nil
	}
	return map[string]string{"src_mac": a.text, "dst_ip": a.ip.String(), "dst_port": strconv.Itoa(int(a.port))}
}

// startAttack serves POST /aggAttack as Transparent Security's controller does.
func (s *Server) startAttack(who string, r *http.Request) control.Outcome {
	fields, err := attackFields(r)
	if err != nil {
		return control.BadRequest(err.Error())
	}
	a, err := attackOf(fields)
	if err != nil {
		return control.BadRequest(err.Error())
	}
	out := added(s.Store.Add(s.ruleOf(a), who, a))
	if out.Result == control.WriteOK {
		out.Body = success
	}
	return out
}

// stopAttack serves DELETE /aggAttack. To stop an attack that is not dropped is no error, as
// with the controller.
func (s *Server) stopAttack(_ string, r *http.Request) control.Outcome {
	fields, err := attackFields(r)
	if err != nil {
		return control.BadRequest(err.Error())
	}
	var is func(*attack) bool
	if key := fields["dropKey"]; key != "" {
		is = func(a *attack) bool { return a.hasKey(key) }
	} else {
		a, err := attackOf(fields)
		if err != nil {
			return control.BadRequest(err.Error())
		}
		is = a.same
	}
	out := control.Outcome{Result: control.WriteOK, Status: http.StatusCreated, Body: success, Detail: "no such attack is dropped"}
	if rule, ok := s.Store.Remove(func(e *entry) bool { return e.attack != nil && is(e.attack) }); ok {
		out.Detail = rule.detail()
	}
	return out
}

// success is the answer of the controller: JSON in a JSON string.
const success = `{"success": true}`

// attackFields returns the fields of a request: those of its JSON, of the object event in it, or
// of the URL's parameters if it has no body.
func attackFields(r *http.Request) (map[string]string, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	fields := map[string]string{}
	if len(bytes.TrimSpace(b)) == 0 {
		for name, values := range r.URL.Query() {
			fields[name] = values[0]
		}
		return fields, nil
	}
	var body map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		return nil, fmt.Errorf(`the body must be JSON, such as {"src_mac": "02:00:5e:00:53:01", "dst_ip": "192.0.2.1", "dst_port": 80}: %w`, err)
	}
	if event, ok := body["event"].(map[string]any); ok {
		body = event
	}
	for name, v := range body {
		switch v := v.(type) {
		case string:
			fields[name] = v
		case json.Number:
			fields[name] = v.String()
		}
	}
	return fields, nil
}

// attackOf makes an attack of fields. It knows the controller's names and those of its JSON
// reports.
func attackOf(fields map[string]string) (*attack, error) {
	field := func(name, other string) string {
		if v := fields[name]; v != "" {
			return v
		}
		return fields[other]
	}
	a := &attack{text: field("src_mac", "origMac")}
	n, must := packetmatch.MAC(a.text)
	if must != "" {
		return nil, fmt.Errorf("src_mac = %.60q: %s", a.text, must)
	}
	a.mac = n
	ip, err := netip.ParseAddr(field("dst_ip", "dstAddr"))
	if err != nil || ip.Zone() != "" {
		return nil, errors.New(`dst_ip: must be an address, such as "192.0.2.1"`)
	}
	a.ip = ip.Unmap()
	port, err := strconv.ParseUint(field("dst_port", "dstPort"), 10, 16)
	if err != nil {
		return nil, errors.New("dst_port: must be a port, such as 80")
	}
	a.port = uint16(port)
	return a, nil
}

// ruleOf returns the rule that drops an attack. If a device id is configured, the rule compares
// src_mac with that, the address that the first switch wrote into the packet's INT: the frame's
// own source is the last router's at the sink. A device id of more than 6 bytes has the address
// first, as Transparent Security's switches write it, or last.
func (s *Server) ruleOf(a *attack) *Request {
	q := &Request{Action: "drop", TTL: Life(attackLife), Comment: "aggAttack"}
	q.Match.Destination, q.Match.DestinationPort = packetmatch.Texts{a.ip.String()}, packetmatch.Texts{strconv.Itoa(int(a.port))}
	lengths := s.DeviceBytes()
	if len(lengths) == 0 {
		q.Match.SourceMAC = packetmatch.Texts{a.text}
		return q
	}
	q.Match.DeviceID = packetmatch.Texts{fmt.Sprintf("%#x", a.mac)}
	for _, n := range lengths {
		if n == 8 {
			q.Match.DeviceID = append(q.Match.DeviceID, fmt.Sprintf("%#x", a.mac<<16))
			break
		}
	}
	return q
}

// hasKey reports whether key is the one that a's drop reports have at the controller: the first
// 64 bits of SHA-256 over the attack's fields, in hexadecimal.
func (a *attack) hasKey(key string) bool {
	four, six := a.ip, netip.IPv6Unspecified()
	if a.ip.Is6() {
		four, six = netip.IPv4Unspecified(), a.ip
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%s|%s", a.text, a.port, four, six))
	return len(key) >= 16 && strings.EqualFold(key[:16], hex.EncodeToString(sum[:8]))
}
