package rules

import (
	"reflect"
	"testing"

	"intsink/conf"
	"intsink/engine/event"
)

func TestNodeModels(t *testing.T) {
	c, d := conf.Parse("test.hcl", []byte(assembleBase+`
node_model "leaf" {
  nodes           = [101, "200-299"]
  latency_unit    = "8ns"
  queue_unit      = "80 bytes"
  buffer_unit     = "160 bytes"
  tx_utilization_full = 10000
  timestamp_bits  = 48
  timestamp_unit  = "1us"
  timestamp_epoch = "none"
}
node_model "others" {}
`))
	if c == nil || len(d.Warnings) != 0 {
		t.Fatalf("%v %v", d.Err(), d.Warnings)
	}
	want := []event.NodeModel{
		{Nodes: []event.NodeRange{{First: 101, Last: 101}, {First: 200, Last: 299}}, LatencyUnit: 8, QueueUnit: 80, BufferUnit: 160, Packet: 1518, TxFull: 10000, TimestampBits: 48, TimestampUnit: 1000},
		{LatencyUnit: 1, QueueUnit: 1, BufferUnit: 1, TimestampBits: 64, TimestampUnit: 1, Unix: true},
	}
	if got := Of(c).NodeModels; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
