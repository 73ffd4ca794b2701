package collector

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// said are the diagnostics of a file at dir/collect.hcl with a listen and these blocks.
func said(t *testing.T, dir, blocks string) string {
	t.Helper()
	path := filepath.Join(dir, "collect.hcl")
	if err := os.WriteFile(path, []byte("listen \"r\" { address = \"127.0.0.1:8555\" }\n"+blocks), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := Load(path)
	var b strings.Builder
	diags.WriteTo(&b)
	return b.String()
}

// TestDoubtfulConfigurations: each of these is told once, at its line.
func TestDoubtfulConfigurations(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "folder"), 0o700)
	syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600)
	os.WriteFile(filepath.Join(dir, "real"), nil, 0o600)
	os.Symlink("real", filepath.Join(dir, "link"))
	os.Link(filepath.Join(dir, "real"), filepath.Join(dir, "hard"))
	os.Symlink("folder", filepath.Join(dir, "way"))
	os.Symlink("unborn", filepath.Join(dir, "dangling"))
	const out = "file \"o\" { path = \"-\" }\n"
	clickhouse := func(url string) string {
		return "spool { directory = \".\" }\nclickhouse \"c\" { url = \"" + url + "\" }"
	}
	const peers = out + "http { listen = \"192.0.2.1:9466\" }\n"
	replicas := func(list string) string {
		return "spool { directory = \".\" }\nclickhouse \"c\" {\n replicas = [" + list + "]\n url = \"https://ch:8443/?table=t\"\n}"
	}
	for _, c := range []struct{ name, blocks, want string }{
		{"a mode that has no effect", out + `spool {
  directory = "."
  mode = "overflow"
}`, "5:10: warning: spool: mode = \"overflow\" has no effect"},
		{"a folder", `file "f" { path = "folder" }`, "2:19: error: file \"f\": path \"DIR/folder\" is a folder; name a file in it"},
		{"a FIFO", `file "f" { path = "fifo" }`, "2:19: error: file \"f\": path \"DIR/fifo\" is not a regular file"},
		{"an unknown part of a date", `file "f" { path = "r-%y.jsonl" }`, "2:19: error: file \"f\": path \"DIR/r-%y.jsonl\" has %y; %Y, %m, %d and %H are year"},
		{"no path", `file "f" {}`, "2:1: error: file \"f\": path is missing"},
		{"a link", "file \"f\" { path = \"real\" }\nfile \"g\" { path = \"link\" }", "3:19: error: file \"g\": path \"DIR/link\" is that of file \"f\""},
		{"a second name", "file \"f\" { path = \"real\" }\nfile \"g\" { path = \"hard\" }", "is that of file \"f\""},
		{"a way through a link", "file \"f\" { path = \"folder/new\" }\nfile \"g\" { path = \"way/new\" }", "is that of file \"f\""},
		{"a way with dots", "file \"f\" { path = \"new\" }\nfile \"g\" { path = \"folder/../new\" }", "is that of file \"f\""},
		{"a link to nothing yet", "file \"f\" { path = \"unborn\" }\nfile \"g\" { path = \"dangling\" }", "is that of file \"f\""},
		{"no such sink", out + `sink = "none.hcl"`, "3:8: error: sink: file: cannot read \"DIR/none.hcl\": no such file or directory"},
		{"a folder as password file", "spool { directory = \".\" }\nclickhouse \"c\" {\n url = \"https://ch/?table=t\"\n user = \"u\"\n password_file = \"folder\"\n}", "6:18: error: clickhouse \"c\": password_file: \"DIR/folder\" is not a file"},
		{"a spool above the disk", out + "spool {\n directory = \".\"\n size = \"1000TiB\"\n}", "5:9: warning: spool: size = 1000TiB: the disk of"},
		{"no spool", "kafka \"k\" { brokers = [\"k:9092\"] }", "2:23: warning: kafka \"k\": without a spool"},
		{"brokers in one string", "spool { directory = \".\" }\nkafka \"k\" { brokers = [\"a:1,b:2\"] }", `write each as a string of its own: ["a:1", "b:2"]`},
		{"an address twice, one of all", out + "listen \"s\" { address = \"0.0.0.0:8555\" }", "error: listen \"s\": address 0.0.0.0:8555 is that of listen \"r\""},
		{"terminators without what only a switch can tell", out + "listen \"s\" {\n  address = \"127.0.0.1:4739\"\n  ipfix {\n    enterprise = 4413\n    headers = 1\n    stack = 2\n  }\n}", "error: listen \"s\": ipfix: packet is missing"},
		{"elements that are one", out + "listen \"s\" {\n  address = \"127.0.0.1:4739\"\n  ipfix {\n    enterprise = 4413\n    headers = 1\n    stack = 2\n    packet = 2\n  }\n}", "collect.hcl:5:3: error: listen \"s\": ipfix: headers, stack and packet are three elements: their ids must differ"},
		{"an element that cannot be", out + "listen \"s\" {\n  address = \"127.0.0.1:4739\"\n  ipfix {\n    enterprise = 4413\n    headers = 32769\n    stack = 2\n    packet = 3\n  }\n}", "error: listen \"s\": ipfix: headers = 32769: must be"},
		{"terminators where sinks send", out + "listen \"s\" {\n  address = \"127.0.0.2:8555\"\n  ipfix {\n    enterprise = 0\n    headers = 1\n    stack = 2\n    packet = 3\n  }\n}", "warning: listen \"s\": sinks send reports to 8555 by default, and this address takes none"},
		{"no port", out + "listen \"s\" { address = \"127.0.0.1:0\" }", "warning: listen \"s\": with port 0 the kernel chooses another port"},
		{"a query", clickhouse("http://127.0.0.1:8123/?table=t&query=x"), "3:24: error: clickhouse \"c\": url has the parameter query, which collect sets itself"},
		{"a password in the URL", clickhouse("http://127.0.0.1:8123/?table=t&password=secret"), "3:24: error: clickhouse \"c\": url has the parameter password: servers and proxies log it"},
		{"a user in the URL", clickhouse("http://127.0.0.1:8123/?table=t&user=x"), "url has the parameter user"},
		{"the native protocol", clickhouse("http://127.0.0.1:9000/?table=t"), "port 9000 is that of ClickHouse's native protocol; the HTTP interface has 8123"},
		{"a replica with a scheme", replicas(`"https://ch2:8443/"`), "4:14: error: clickhouse \"c\": replica \"https://ch2:8443/\": write HOST:PORT alone"},
		{"a replica without a port", replicas(`"ch2"`), "4:14: error: clickhouse \"c\": replica \"ch2\": must be an address and a port"},
		{"a replica twice", replicas(`"ch2:8443", "ch2:8443"`), "4:26: error: clickhouse \"c\": replica \"ch2:8443\" stands twice"},
		{"the server of the URL as a replica", replicas(`"ch:8443"`), "or is the server of url"},
		{"a replica's native protocol", replicas(`"ch2:9440"`), "4:14: error: clickhouse \"c\": port 9440"},
		{"two replicas", replicas(`"ch2:8443", "[2001:db8::1]:8443"`), ""},
		{"a peer with a path", peers + `peers = ["http://c2:9466/metrics"]`, "error: peers: \"http://c2:9466/metrics\": must be the URL of another collector's http.listen"},
		{"a peer twice", peers + `peers = ["http://c2:9466", "http://c2:9466"]`, "error: peers: \"http://c2:9466\" stands twice"},
		{"peers that cannot ask", out + `peers = ["http://c2:9466"]`, "warning: peers: the others cannot ask this collector"},
		{"a password without user", "spool { directory = \".\" }\nclickhouse \"c\" {\n url = \"https://ch/?table=t\"\n password_file = \"real\"\n}", "warning: clickhouse \"c\": password_file without user"},
		{"a token with a user", "spool { directory = \".\" }\nkafka \"k\" {\n brokers = [\"k:9092\"]\n tls {}\n sasl {\n mechanism = \"oauthbearer\"\n user = \"u\"\n password_file = \"real\"\n }\n}", "oauthbearer has none"},
		{"a login without a user", "spool { directory = \".\" }\nkafka \"k\" {\n brokers = [\"k:9092\"]\n tls {}\n sasl {\n mechanism = \"plain\"\n password_file = \"real\"\n }\n}", "user belongs to plain and scram"},
		{"a registry for JSON", registry(`"http://sr:8081"`, "json", ""), "8:3: error: kafka \"k\": registry: is for messages of format = \"protobuf\""},
		{"a registry that is no URL", registry(`"sr:8081"`, "protobuf", ""), "registry: url \"sr:8081\": must be that of a schema registry"},
		{"a registry with a user in the URL", registry(`"https://u:p@sr"`, "protobuf", ""), "write them as user and password_file"},
		{"a registry's user without password", registry(`"https://sr"`, "protobuf", `user = "u"`), "user and password_file belong together"},
		{"a registry's password in the clear", registry(`"http://sr"`, "protobuf", "user = \"u\"\n password_file = \"real\""), "warning: kafka \"k\": registry: the password goes over the network as it is"},
		{"a registry", registry(`"https://sr"`, "protobuf", "user = \"u\"\n password_file = \"real\"\n tls {}"), ""},
		{"flows to no port", "spool { directory = \".\" }\nipfix \"x\" { address = \"192.0.2.20\" }", "3:23: error: ipfix \"x\": address \"192.0.2.20\": must be an address and a port, such as \"192.0.2.20:4739\""},
		{"flows twice", "spool { directory = \".\" }\nipfix \"x\" { address = \"nf:4739\" }\nipfix \"y\" { address = \"nf:4739\" }", "4:23: error: ipfix \"y\": address nf:4739 is that of ipfix \"x\": each flow would come twice"},
		{"flows by UDP and TCP", "spool { directory = \".\" }\nipfix \"x\" { address = \"nf:4739\" }\nipfix \"y\" {\n address = \"nf:4739\"\n protocol = \"tcp\"\n}", ""},
		{"a registry for JSON", "spool { directory = \".\" }\nkafka \"k\" {\n brokers = [\"a:1\"]\n registry { url = \"http://r:8081\" }\n}", `5:2: error: kafka "k": registry: is for messages of format = "protobuf"`},
		{"TLS over UDP", "spool { directory = \".\" }\nipfix \"x\" {\n address = \"nf:4740\"\n tls { }\n}", "5:2: error: ipfix \"x\": tls is for protocol = \"tcp\""},
		{"TLS over TCP", "spool { directory = \".\" }\nipfix \"x\" {\n address = \"nf:4740\"\n protocol = \"tcp\"\n tls { }\n}", ""},
		{"a message that is too short", "spool { directory = \".\" }\nipfix \"x\" {\n address = \"nf:4739\"\n message = \"100B\"\n}", "5:12: error: ipfix \"x\": message"},
		{"nothing", "spool { directory = \".\" }\nfile \"f\" { path = \"real\" }\nfile \"g\" { path = \"folder/new\" }\nfile \"h\" { path = \"unix:folder\" }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.ReplaceAll(said(t, dir, c.blocks), dir, "DIR")
			if n := strings.Count(got, "error:") + strings.Count(got, "warning:"); !strings.Contains(got, c.want) || c.want == "" && got != "" || n > 1 {
				t.Errorf("said\n%s\nwant %s, once", got, c.want)
			}
		})
	}
}

// registry is a block kafka with one.
func registry(url, format, more string) string {
	return "spool { directory = \".\" }\nkafka \"k\" {\n brokers = [\"k:9092\"]\n format = \"" + format + "\"\n\n\n  registry {\n url = " + url + "\n " + more + "\n }\n}"
}

// TestSecretsAreNotShown: a URL that cannot be read is shown without what may be a password.
func TestSecretsAreNotShown(t *testing.T) {
	for _, url := range []string{"htp://user:secret@ch:8123/?table=t", "ch:8123?table=t&password=secret", "http://ch:8123/?table=t&password=secret%zz"} {
		got := said(t, t.TempDir(), "spool { directory = \".\" }\nclickhouse \"c\" { url = \""+url+"\" }")
		message, _, _ := strings.Cut(got, "\n")
		if !strings.Contains(message, "error") || strings.Contains(message, "secret") {
			t.Error(got)
		}
	}
}
