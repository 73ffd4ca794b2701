// What the server says of the table: columns that it lacks, and errors with what is to be done about them.

package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"intsink/exporters/record"
)

// schema names the file that makes the table.
const schema = "deploy/collect/clickhouse.sql (GET /api/v1/schema/clickhouse.sql)"

// upgrade names the file that adds columns to a table of an earlier version.
const upgrade = "deploy/collect/clickhouse-upgrade.sql (GET /api/v1/schema/clickhouse-upgrade.sql)"

// refused is an answer of the server, with the number of its exception.
type refused struct{ code, text string }

// Error is the answer's text.
func (r refused) Error() string { return r.text }

// advice is what to do about the exceptions of ClickHouse that an operator mends.
var advice = map[string]string{
	"60":  "there is no such table: create it with " + schema + ", or mend table= in the URL",
	"81":  "there is no such database: create it with " + schema + ", or mend table= in the URL",
	"16":  "the table has other columns: compare it with " + schema,
	"53":  "a column has another type than the records: compare it with " + schema,
	"70":  "a column has another type than the records: compare it with " + schema,
	"27":  "a column has another type than the records: compare it with " + schema,
	"164": "the user may only read: it needs the right INSERT on the table",
	"192": "there is no such user: see user",
	"193": "the password is wrong: see password_file",
	"241": "the server is out of memory: fewer rows in a block need less",
	"243": "the disk of the server is full",
	"252": "too many parts: fewer and larger blocks, by rows and wait",
	"497": "the user needs the right INSERT on the table",
	"516": "user or password are wrong: see user and password_file",
}

// explain adds to an error what the operator should do, and says in words what the standard library does not.
func (o *Output) explain(err error) error {
	var r refused
	switch {
	case errors.As(err, &r) && tooOld(o.versions[o.insert.Host]):
		return fmt.Errorf("table %s: %w; %s", o.table, err, oldServer(o.versions[o.insert.Host]))
	case errors.As(err, &r) && advice[r.code] != "":
		return fmt.Errorf("table %s: %w; %s", o.table, err, advice[r.code])
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("table %s: no answer from %s within timeout (%v); it may have stored the block, which is sent again under the same token: %w", o.table, o.insert.Host, o.c.Timeout, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("table %s: %s closed the connection without an answer: %w", o.table, o.insert.Host, err)
	}
	return fmt.Errorf("table %s at %s: %w", o.table, o.insert.Host, err)
}

// goOn makes the next server, in their order and round, the one in use: the next blocks stay with it. Whether a block
// that one has stored without an answer is there twice is up to the table: replicas share the tokens of blocks.
func (o *Output) goOn() {
	o.at = (o.at + 1) % len(o.servers)
	o.insert.Host = o.servers[o.at]
}

// LeastVersion is the first version of ClickHouse that takes the tables of deploy/collect/clickhouse.sql, and what is made of them.
const LeastVersion = "24.8"

// tooOld reports whether a server's version is one before LeastVersion. What is no version is none of them.
func tooOld(version string) bool {
	var major, minor, leastMajor, leastMinor int
	fmt.Sscanf(LeastVersion, "%d.%d", &leastMajor, &leastMinor)
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major < leastMajor || major == leastMajor && minor < leastMinor)
}

func oldServer(version string) string {
	return fmt.Sprintf("the server is ClickHouse %s: the tables of %s need %s or later", version, schema, LeastVersion)
}

// askVersion asks a server for its version in front of its first insert, and says so where that is too old for the tables. Who has
// a table of one's own may know better: rows are sent nevertheless.
func (o *Output) askVersion(ctx context.Context, server url.URL) {
	if _, known := o.versions[server.Host]; known || o.c.Log == nil {
		return
	}
	version, err := o.version(ctx, server)
	if err != nil { // the insert will have the same error
		return
	}
	o.versions[server.Host] = version
	if tooOld(version) {
		o.c.Log(oldServer(version), "table", o.table, "server", server.Host)
	}
}

func (o *Output) version(ctx context.Context, server url.URL) (string, error) {
	answer, err := o.ask(ctx, server, url.Values{"query": {"SELECT version()"}}, nil, 100)
	return strings.TrimSpace(string(answer)), err
}

// Try says what keeps the servers from taking records, as far as that shows without an insert: one that does not answer, one that is
// too old, no table, columns that the table lacks.
func (o *Output) Try(ctx context.Context) error {
	var all []error
	for _, host := range o.servers {
		server := *o.insert
		server.Host = host
		if err := o.try(ctx, server); err != nil {
			all = append(all, fmt.Errorf("%s: %w", host, err))
		}
	}
	return errors.Join(all...)
}

func (o *Output) try(ctx context.Context, server url.URL) error {
	version, err := o.version(ctx, server)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it does not answer")
	}
	if err != nil {
		return o.explain(err)
	}
	if tooOld(version) {
		return errors.New(oldServer(version))
	}
	answer, err := o.describe(ctx, server)
	if err != nil {
		return o.explain(err)
	}
	if lacking := lacking(answer); len(lacking) > 0 {
		return fmt.Errorf("table %s lacks columns: %s; %s adds them", o.table, strings.Join(lacking, " "), upgrade)
	}
	return nil
}

// describe asks a server for the columns of the table.
func (o *Output) describe(ctx context.Context, server url.URL) ([]byte, error) {
	q := server.Query()
	q.Set("query", "DESCRIBE TABLE "+quote(o.table)+" FORMAT JSONEachRow")
	return o.ask(ctx, server, q, nil, 1<<20)
}

// compare asks, once after each time that the table began to take rows, which columns it has: those that it lacks are
// dropped from every row without an error (input_format_skip_unknown_fields), so that an older table goes on working.
func (o *Output) compare() {
	if o.compared || o.c.Log == nil {
		return
	}
	o.compared = true
	server := *o.insert
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), o.c.Timeout)
		defer cancel()
		answer, err := o.describe(ctx, server)
		if err != nil { // a right that the user lacks, say: rows are taken nevertheless
			return
		}
		if lacking := lacking(answer); len(lacking) > 0 {
			o.c.Log("the table of ClickHouse lacks columns: their values are not stored; "+upgrade+" adds them",
				"table", o.table, "columns", strings.Join(lacking, " "))
		}
	}()
}

// lacking returns the fields of records that an answer to DESCRIBE TABLE has no column for. An answer that cannot be
// read lacks none.
func lacking(answer []byte) (fields []string) {
	var has []string
	for rows := json.NewDecoder(bytes.NewReader(answer)); ; {
		var column struct{ Name string }
		if err := rows.Decode(&column); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil
		}
		has = append(has, column.Name)
	}
	if len(has) == 0 {
		return nil
	}
	for _, f := range record.Fields {
		if !slices.Contains(has, f) {
			fields = append(fields, f)
		}
	}
	return fields
}
