// For tests: starts Apache Kafka brokers.

package kafkatest

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/internal/loopback"
)

// Libraries returns the folder that scripts/deps-engines.sh puts Kafka's jars into.
func Libraries() string { return filepath.Join(os.Getenv("INTSINK_ENGINES"), "kafka", "lib") }

// Cluster is a group of brokers on loopback; each is a controller, too.
type Cluster struct {
	t       testing.TB
	brokers []*broker
	dir     string
	ca      string // PEM file with the certificate of all brokers; "": no secure listener
}

type broker struct {
	id         int
	dir        string
	client     int // TCP ports: clients without TLS,
	secure     int // clients with TLS and SASL,
	controller int // and the other controllers
	cmd        *exec.Cmd
	log        string
}

// clusterID may be any 16 bytes in base64.
const clusterID = "q1Sh-9_ISia_zwGINzRvyQ"

// Start starts n brokers, and waits until all of them answer. They end with the test.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	return start(t, n, false)
}

func start(t testing.TB, n int, secure bool) *Cluster {
	t.Helper()
	if jars, _ := filepath.Glob(filepath.Join(Libraries(), "kafka_2.13-*.jar")); len(jars) == 0 {
		t.Fatalf("no Kafka in %s: run make deps-engines", Libraries())
	}
	c := &Cluster{t: t, dir: t.TempDir()}
	for id := 1; id <= n; id++ {
		b := &broker{id: id, dir: filepath.Join(c.dir, fmt.Sprint(id)), client: loopback.Port(t), secure: loopback.Port(t), controller: loopback.Port(t)}
		c.brokers = append(c.brokers, b)
	}
	if secure {
		c.makeCertificate()
	}
	for i, b := range c.brokers {
		c.configure(b)
		if i == 0 {
			c.format(b)
		} else {
			c.copyFormat(c.brokers[0], b)
		}
	}
	for _, b := range c.brokers {
		c.run(b)
	}
	t.Cleanup(c.stop)
	for _, b := range c.brokers {
		c.wait(b)
	}
	return c
}

// java returns a command that runs a class of Kafka. Brokers of tests live for seconds: compiling their code well would cost more than
// it gains.
func java(args ...string) *exec.Cmd {
	return exec.Command("java", append([]string{"-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", Libraries() + "/*"}, args...)...)
}

// configure writes the properties of a broker.
func (c *Cluster) configure(b *broker) {
	c.t.Helper()
	var voters []string
	for _, x := range c.brokers {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", x.id, x.controller))
	}
	replicas := min(3, len(c.brokers))
	text := fmt.Sprintf(`process.roles=broker,controller
node.id=%d
controller.quorum.voters=%s
listeners=%s
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
listener.security.protocol.map=BROKER:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
log.dirs=%s
auto.create.topics.enable=false
default.replication.factor=%d
min.insync.replicas=%d
offsets.topic.replication.factor=%d
transaction.state.log.replication.factor=%d
transaction.state.log.min.isr=1
num.partitions=6
broker.session.timeout.ms=6000
controlled.shutdown.enable=true
`, b.id, strings.Join(voters, ","), c.listeners(b), b.dir, replicas, max(1, replicas-1), replicas, replicas) + c.secureProperties()
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		c.t.Fatal(err)
	}
	b.log = b.dir + ".log"
	if err := os.WriteFile(b.dir+".properties", []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// format prepares the folder of a broker.
func (c *Cluster) format(b *broker) {
	c.t.Helper()
	args := append([]string{"kafka.tools.StorageTool", "format", "-t", clusterID, "-c", b.dir + ".properties"}, c.scramUsers()...)
	if out, err := java(args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
}

// copyFormat prepares the folder of a broker as that of another one was, which takes no Java machine: only the two ids differ.
func (c *Cluster) copyFormat(from, to *broker) {
	c.t.Helper()
	if err := os.CopyFS(to.dir, os.DirFS(from.dir)); err != nil {
		c.t.Fatal(err)
	}
	path := filepath.Join(to.dir, "meta.properties")
	b, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^node\.id=.*$`).ReplaceAllString(string(b), fmt.Sprint("node.id=", to.id))
	text = regexp.MustCompile(`(?m)^directory\.id=.*$`).ReplaceAllString(text, "directory.id="+base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "folder of node %d", to.id)[:16]))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) run(b *broker) {
	c.t.Helper()
	log, err := os.OpenFile(b.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	b.cmd = java("kafka.Kafka", b.dir+".properties")
	b.cmd.Stdout, b.cmd.Stderr = log, log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// wait waits until b takes connections, which it does when it has joined the cluster.
func (c *Cluster) wait(b *broker) {
	c.t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		conn, err := net.Dial("tcp", b.address())
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(b.log)
			c.t.Fatalf("broker %d does not answer\n%s", b.id, text)
		}
	}
}

func (b *broker) address() string { return fmt.Sprintf("127.0.0.1:%d", b.client) }

// Addresses returns host:port of every broker's listener without TLS.
func (c *Cluster) Addresses() (all []string) {
	for _, b := range c.brokers {
		all = append(all, b.address())
	}
	return all
}

// Kill ends a broker, 1 to n, with a signal, and waits for its end.
func (c *Cluster) Kill(id int, s syscall.Signal) {
	c.t.Helper()
	b := c.brokers[id-1]
	b.cmd.Process.Signal(s)
	b.cmd.Wait()
}

// Restart starts a broker that has ended, and waits until it answers.
func (c *Cluster) Restart(id int) {
	c.t.Helper()
	c.run(c.brokers[id-1])
	c.wait(c.brokers[id-1])
}

// RestartAll starts all brokers, which have ended, at once: one alone has no majority and
// would not answer.
func (c *Cluster) RestartAll() {
	c.t.Helper()
	for _, b := range c.brokers {
		c.run(b)
	}
	for _, b := range c.brokers {
		c.wait(b)
	}
}

func (c *Cluster) stop() {
	for _, b := range c.brokers {
		b.cmd.Process.Kill()
		b.cmd.Wait()
	}
}
