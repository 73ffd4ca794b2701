// Kinds of fields: their types in protobuf and tables, and how a value of them is written.

package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// kind is what values of a field are.
type kind struct {
	proto    string // type in intsink.proto
	repeated bool
	sql      string // type in a table, where it may not be null
	word     string // in docs/records.md
	column   string // type of its column
	maker    string // of the column: a method of named
	mayNull  bool   // a column of it may be null
	of       string // the message of object and list
	json     string // one statement: {name} is `,"name":`, {text} is `,"name":"`, {v} the value
	putProto string // {number} in protobuf
	put      string // into its {column}
}

const text64 = "LowCardinality(String)"

func numberKind(bits, column string) kind {
	k := kind{proto: "uint32", sql: "UInt" + bits, word: "number", column: column, mayNull: true,
		json: "b = appendNumber(b, {name}, uint64({v}))", putProto: "b = putNumber(b, {number}, uint64({v}))", put: "{column}.put(n, {v})"}
	k.maker = map[string]string{"8": "n1", "16": "n2", "32": "n4", "64": "n8"}[bits]
	if bits == "64" {
		k.proto, k.json, k.putProto = "uint64", "b = appendNumber(b, {name}, {v})", "b = putNumber(b, {number}, {v})"
	}
	return k
}

var (
	u8  = numberKind("8", "*bytes8")
	u16 = numberKind("16", "*numbers2")
	u32 = numberKind("32", "*numbers4")
	u64 = numberKind("64", "*numbers8")
	// nodeID is a number that is never null in a table: what is not known has all bits set.
	nodeID = kind{proto: "uint32", sql: "UInt32 DEFAULT " + allOnes, word: "number", column: "*numbers4", maker: "n4", json: u32.json, putProto: u32.putProto, put: u32.put}
	flag   = kind{proto: "bool", sql: "Bool", word: "true or false", column: "*bytes8", maker: "flag",
		json: "b = appendBool(b, {name}, {v})", putProto: "b = putNumber(b, {number}, 1)", put: "{column}.put(n, 1)"}
	// nanos are of type int64 in Go.
	nanos = kind{proto: "sfixed64", sql: "DateTime64(9, 'UTC')", word: "time", column: "*times", maker: "time", mayNull: true,
		json: "b = append(appendTime(append(b, {text}...), uint64({v})), '\"')", putProto: "b = putFixed64(b, {number}, uint64({v}))", put: "{column}.put(n, {v})"}
	addr = kind{proto: "string", sql: "IPv6", word: "address", column: "*addrs", maker: "nullAddr", mayNull: true,
		json: "b = appendAddrField(b, {text}, {v})", putProto: "b = putAddr(b, {number}, {v})", put: "putAddrs({column}, n, {v})"}
	text = kind{proto: "string", sql: "String", word: "text", column: "*texts", maker: "text",
		json: "b = append(append(append(b, {text}...), {v}...), '\"')", putProto: "b = putText(b, {number}, {v})", put: "{column}.put(n, {v})"}
	appended = kind{proto: "string", sql: "String", word: "text", column: "*texts", maker: "text"}
	hex      = kind{proto: "string", sql: "String", word: "text", column: "*texts", maker: "text",
		json: "b = appendHexField(b, {text}, {v})", putProto: "b = putHex(b, {number}, {v})", put: "{column}.putHex(n, {v})"}
	version = kind{proto: "float", sql: "Float32", word: "number", column: "*floats", maker: "nullFloat", mayNull: true,
		json: "b = append(append(b, {name}...), versionNumbers[{v}]...)", putProto: "b = putFloat(b, {number}, versionFloats[{v}])", put: "{column}.put(n, versionFloats[{v}])"}
	// Elements of arrays are texts as they are: ClickHouse merges an array of LowCardinality by making a dictionary for each row.
	names     = kind{proto: "string", repeated: true, sql: "Array(String)", word: "list of text", column: "*list"}
	numbers16 = kind{proto: "uint32", repeated: true, sql: "Array(UInt16)", word: "list of numbers", column: "*list"}
)

func object(of string) kind { return kind{proto: of, of: of, word: "object"} }

func list(of string) kind {
	return kind{proto: of, of: of, repeated: true, word: "list", column: "*list"}
}

func messageOf(name string) *message {
	i := slices.IndexFunc(table, func(m message) bool { return m.name == name })
	return &table[i]
}

// fields are those of all sections in the order of tables and protobuf.
func (m *message) fields() (all []field) {
	var last []field
	for _, s := range m.sections {
		for _, f := range s.fields {
			if f.last {
				last = append(last, f)
			} else {
				all = append(all, f)
			}
		}
	}
	return append(all, last...)
}

var bit = regexp.MustCompile(`^(Known|Hop)\w+$`)

// condition is the one under which a field of m is known; empty: always.
func (m *message) condition(f *field) string {
	if bit.MatchString(f.known) {
		return m.recv + ".Known&" + f.known + " != 0"
	}
	return f.known
}

// with adds a condition to another one.
func with(condition, more string) string {
	if condition == "" || more == "" {
		return cmp.Or(condition, more)
	}
	return condition + " && " + more
}

var initials = map[string]string{"id": "ID", "ds": "DS", "mac": "MAC", "int": "INT", "vni": "VNI", "vlan": "VLAN", "tcp": "TCP", "dscp": "DSCP", "tlvs": "TLVs"}

// goName is the name of a field's column in Go.
func goName(name string) (all string) {
	for word := range strings.SplitSeq(name, "_") {
		if whole, ok := initials[word]; ok {
			all += whole
		} else {
			all += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return all
}
