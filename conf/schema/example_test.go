package schema_test

import (
	"fmt"
	"os"
	"time"

	"intsink/conf/schema"
)

// config is what the file is read into.
type config struct {
	Listen string
	Wait   time.Duration
	Topics []topic
}

type topic struct {
	Name  string
	Codec string
}

// visit is the schema: the names of the file beside the fields that they fill.
func (c *config) visit(v schema.Visitor) {
	v.Required("listen", schema.Text(&c.Listen))
	v.Attr("wait", schema.Duration(&c.Wait, 0, time.Minute))
	v.Blocks("topic", schema.Slice(&c.Topics, defaultTopic, func(t *topic) *string { return &t.Name }, visitTopic))
}

func defaultTopic(int) topic { return topic{Codec: "json"} }

func visitTopic(v schema.Visitor, t *topic) {
	v.Attr("codec", schema.Choice(&t.Codec, "json", "protobuf"))
}

func Example() {
	f := schema.New("collect.hcl", []byte(`
listen = "0.0.0.0:8555"
topic "reports" {}
topic "raw" { codec = "protobof" }
`))
	c := &config{Wait: time.Second}
	if !f.Parse(c.visit) || f.Failing() {
		f.Done().WriteTo(os.Stdout)
	}
	fmt.Printf("%s", schema.Dump(c.visit))
	// Output:
	// collect.hcl:4:23: error: topic "raw": codec = "protobof": must be "json" or "protobuf"; did you mean "protobuf"?
	//     4 | topic "raw" { codec = "protobof" }
	//       |                       ^^^^^^^^^^
	// listen = "0.0.0.0:8555"
	// wait   = "1s"
	//
	// topic "reports" {
	//   codec = "json"
	// }
	//
	// topic "raw" {
	//   codec = "json"
	// }
}
