// Output to ClickHouse: makes the URL with query and settings, gathers records into blocks, has one
// block at a time inserted.

package clickhouse

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"

	"intsink/exporters/collect"
	"intsink/exporters/record"
)

// Config configures one output.
type Config struct {
	URL          string   // with the parameter table: https://ch:8443/?table=int.reports
	Replicas     []string // HOST:PORT of more servers that have the table, for when that of URL does not take a block
	User         string
	PasswordFile string
	TLS          *tls.Config
	Rows         int                           // rows that a full block has, about
	Wait         time.Duration                 // how long a block may take to fill before it is sent
	Timeout      time.Duration                 // how long one attempt to insert may take
	Log          func(msg string, args ...any) // receives a message where the table has no place for a field; nil: none
}

// Output inserts blocks, one after the other. It implements collect.Output.
type Output struct {
	c        Config
	insert   *url.URL // of the server in use
	servers  []string // HOST:PORT of all
	at       int      // index in servers of the one in use
	table    string
	compared bool              // the table's columns were compared with the records since it last failed
	versions map[string]string // of the servers, by HOST:PORT, as far as they were asked since they were away; used by the attempt under way
	client   *http.Client
	clock    func() time.Time

	block []*collect.Delivery // the block that is being gathered
	rows  int
	size  int       // bytes of memory that the block takes
	most  int       // that it may take
	since time.Time // when the block got its first record
	full  bool      // a delivery did not fit: the block is to be sent
	way   *insert   // the block that is on its way; nil: none

	parts  []record.Rows // of the block that was sent last, and
	native []byte        // memory for a piece of its bytes
	frame  *compress.Writer
	usual  int // bytes of its frames
}

// Settings are those of inserts, unless the URL has others.
var Settings = map[string]string{
	"input_format_skip_unknown_fields": "1", // columns that an older table lacks
	// Rows of a block that repeat each other, which are next to none, go when parts are merged, not before: to look for them
	// costs more than all else of an insert.
	"optimize_on_insert": "0",
	// What comes is a block already. Servers that queue inserts, as 26.7 does by default, would let each wait to be gathered with
	// others, and those before 26.2 would store it again when it is sent again under its token.
	"async_insert": "0",
	// What views make of a block that comes again under its token counts once, as the block itself does: so by default from 26.7
	// on at the latest, and neither in 25.8 nor in 26.1.
	"deduplicate_blocks_in_dependent_materialized_views": "1",
}

// New makes an output. It connects to nothing yet: an error is one of the configuration.
func New(c Config) (*Output, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	table := q.Get("table")
	if table == "" {
		return nil, errors.New("the URL names no table: write it as a parameter, such as http://ch:8123/?table=int.reports")
	}
	q.Del("table")
	q.Set("query", "INSERT INTO "+quote(table)+" FORMAT Native")
	for setting, value := range Settings {
		if !q.Has(setting) {
			q.Set(setting, value)
		}
	}
	u.RawQuery = q.Encode()
	return &Output{c: c, insert: u, servers: append([]string{u.Host}, c.Replicas...), table: table, most: int(BlockBytes(c.Rows)), clock: time.Now, versions: map[string]string{}, frame: compress.NewWriter(compress.LevelZero, compress.LZ4), client: newClient(c.TLS)}, nil
}

// newClient makes a client that follows no redirect: it would go on with a GET without the rows, take the
// page that it gets for an acknowledgement, and show the password to another server.
func newClient(t *tls.Config) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: t, IdleConnTimeout: time.Minute, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// quote puts each part of a table's name (database.table) into the backquotes of ClickHouse's
// identifiers.
func quote(table string) string {
	parts := strings.Split(table, ".")
	for i, p := range parts {
		parts[i] = "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(p) + "`"
	}
	return strings.Join(parts, ".")
}

// Format returns Columns: blocks are inserted in format Native.
func (o *Output) Format() collect.Format { return collect.Columns }

// BlockBytes is how many bytes of memory a block of so many rows takes at most, unless one delivery is larger: what reports of four hops
// take. An output holds two blocks: one that it gathers and one that is being inserted.
func BlockBytes(rows int) int64 { return min(max(int64(rows)*rowBytes, leastBlock), maxBlock) }

const (
	rowBytes   = 671
	leastBlock = 64 << 20
	maxBlock   = 128 << 20
)

// Room reports whether so many records fit into the block. If not, the block is sent as soon
// as the one before it is acknowledged.
func (o *Output) Room(records, bytes int) bool {
	fits := func() bool { return o.rows == 0 || o.rows+records <= o.c.Rows && o.size+bytes <= o.most }
	o.full = !fits()
	o.Tick()
	return fits()
}

// Send adds d to the block, and sends the block if it is full now.
func (o *Output) Send(d *collect.Delivery) {
	if o.rows == 0 {
		o.since = o.clock()
	}
	o.block = append(o.block, d)
	o.rows += d.Count()
	o.size += d.Size()
	o.full = o.rows >= o.c.Rows
	o.Tick()
}

// Tick takes the server's answer, repeats an insert that failed, and sends a block that is
// full or has waited for Config.Wait.
func (o *Output) Tick() {
	now := o.clock()
	if o.way != nil {
		o.way.poll(now)
	}
	if o.way == nil && o.rows > 0 && (o.full || now.Sub(o.since) >= o.c.Wait) {
		o.start()
	}
}

// start begins to insert the block, and begins an empty one.
func (o *Output) start() {
	o.way = newInsert(o, o.block)
	o.block, o.rows, o.size, o.full = nil, 0, 0, false
	o.way.post()
}

// Flush sends the block and waits until the server has acknowledged it, or until ctx ends.
func (o *Output) Flush(ctx context.Context) {
	for o.way != nil || o.rows > 0 {
		if o.way == nil {
			o.start()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
			o.way.poll(o.clock())
		}
	}
}

const pollEvery = 10 * time.Millisecond

// Close gives up blocks that the server has not acknowledged.
func (o *Output) Close() error {
	if o.way != nil {
		o.way.giveUp()
	}
	for _, d := range o.block {
		d.FailedAll(collect.ErrStopped)
	}
	o.block, o.rows, o.size, o.way = nil, 0, 0, nil
	o.client.CloseIdleConnections()
	return nil
}
