package dut

import (
	"bytes"
	"cmp"
	"os"
	"text/template"
)

// Task says what intsink does with the frames.
type Task struct {
	INT      string // body of the int block
	Watch    bool   // all flows, with the events that are on by default; else strip only
	Sample   int    // one report per that many packets; 0: events only
	Capacity int    // of the flow table; 0: 65536
	Events   string // list of the watch's events; empty: the default
	Limits   string // body of the events block
	Report   string // body of the report block
	Budget   int    // report packets per second; 0: no limit
}

// Places is how many flows the table is asked to have room for.
func (t *Task) Places() int { return cmp.Or(t.Capacity, 65536) }

// configuration is intsink's, but for addresses all defaults.
var configuration = template.Must(template.New("").Parse(`
node { id = 1 }
dpdk {
  lcores    = "{{.Lcores}}"
  hugepages = "{{.Hugepages}}"
  mbufs     = {{.Mbufs}}
}
port "network" { device = "{{.Network}}" }
port "host"    { device = "{{.Host}}" }
link "edge" {
  network = "network"
  host    = "host"
}
int {
  {{.INT}}
}
flows { capacity = {{.Capacity}} }
{{with .Limits}}events {
  {{.}}
}
{{end -}}
{{with .Report}}report {
  {{.}}
}
{{end -}}
{{if .Watch}}watch "all" {
  sample = {{.Sample}}
{{- with .Events}}
  events = {{.}}
{{- end}}
}
{{end -}}
collector "sink" {
  address = "{{.Collector}}"
{{- with .Budget}}
  budget { packets = {{.}} }
{{- end}}
}
http {
  listen = "{{.HTTP}}"
{{- with .Socket}}
  socket = "{{.}}"
{{- end}}
{{- if .Pprof}}
  pprof  = "{{.Pprof}}"
{{- end}}
}
`))

// Configuration writes intsink's configuration to path.
func (s *Setup) Configuration(path string, t Task, collector, listen, pprof string) error {
	hugepages := "off"
	if s.Memory.huge {
		hugepages = "on"
	}
	t.Capacity = t.Places()
	var b bytes.Buffer
	err := configuration.Execute(&b, struct {
		Task
		*Setup
		Lcores, Hugepages, Collector, HTTP, Pprof string
	}{t, s, s.lcoreList(), hugepages, collector, listen, pprof})
	if err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
