// Headers of messages: the type of the record, and the version of what describes it, so that readers choose before they decode.

package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"intsink/exporters/record"
)

// headers are those of each type of record, shared by all messages.
var headers = func() (all [record.NumTypes][]kgo.RecordHeader) {
	for t := range all {
		all[t] = []kgo.RecordHeader{{Key: "type", Value: []byte(record.Type(t).String())}, {Key: "schema", Value: []byte("intsink.v1.Report")}}
	}
	return all
}()
