//go:build engines

package kafka

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"intsink/exporters/collect"
	"intsink/exporters/collect/collecttest"
	"intsink/exporters/kafka/kafkatest"
)

// secureConfig returns the configuration of an output that connects to the secure listener.
func secureConfig(t *testing.T, c *kafkatest.Cluster, mechanism Mechanism, password string) (Config, *said) {
	t.Helper()
	log := &said{}
	conf := config(c.SecureAddresses())
	conf.TLS = &TLS{CA: c.CA()}
	conf.SASL = &SASL{mechanism, kafkatest.User, passwordFile(t, password)}
	conf.Log = log.say
	return conf, log
}

// allow lets the user write to the topic.
func allow(t *testing.T, a *kadm.Client, topic string) {
	t.Helper()
	b := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpWrite, kadm.OpDescribe).Allow("User:" + kafkatest.User)
	results, err := a.CreateACLs(context.Background(), b)
	for _, r := range results {
		if err == nil {
			err = r.Err
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSecureKafka connects to Apache Kafka with TLS, SASL and access control lists, with one
// mistake after the other: the log names each of them, and no record is lost.
func TestSecureKafka(t *testing.T) {
	c := kafkatest.StartSecure(t, 1)
	a := admin(t, c.Addresses())
	t.Run("no authority for the certificate", func(t *testing.T) {
		conf, log := secureConfig(t, c, "plain", kafkatest.Password)
		conf.TLS = &TLS{}
		b := collecttest.New(t, collect.Options{Flush: 100 * time.Millisecond}, 1<<30, output(t, conf))
		b.Send(1)
		b.Wait("the log names it", func() bool { return log.has("certificate signed by unknown authority") })
		b.Stop()
	})
	for _, mechanism := range []Mechanism{Plain, ScramSHA256, "scram-sha-512"} {
		t.Run(string(mechanism), func(t *testing.T) {
			topic := "intsink." + string(mechanism)
			conf, log := secureConfig(t, c, mechanism, "wrong")
			conf.Topic = topic
			b := collecttest.New(t, collect.Options{Recent: 20000, Log: logTo(log)}, 1<<30, output(t, conf))
			b.Send(300)
			b.Wait("the log names the login", func() bool { return log.has("SASL_AUTHENTICATION_FAILED") })
			if err := os.WriteFile(conf.SASL.PasswordFile, []byte(kafkatest.Password+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			b.Wait("the log names the rights", func() bool { return log.has("Describe and Write") })
			allow(t, a, topic)
			b.Wait("the log names the topic", func() bool { return log.has("create it") })
			b.Wait("it takes nothing, but while it tries again", func() bool {
				o := b.C.Snapshot().Outputs[0]
				return o.Delivered == 0 && !o.Takes
			})
			if _, err := a.CreateTopic(context.Background(), 3, 1, nil, topic); err != nil {
				t.Fatal(err)
			}
			b.Send(200)
			b.Wait("all is delivered", caughtUp(b))
			b.Stop()
			if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} {
				t.Errorf("%+v", o)
			}
			wantAll(t, consumeTopic(t, topic, 1000, c.Addresses()), 500)
		})
	}
	t.Run("message too large", func(t *testing.T) {
		const topic = "intsink.small"
		limit := "6000"
		if _, err := a.CreateTopic(context.Background(), 1, 1, map[string]*string{"max.message.bytes": &limit}, topic); err != nil {
			t.Fatal(err)
		}
		allow(t, a, topic)
		conf, log := secureConfig(t, c, "plain", kafkatest.Password)
		conf.Topic, conf.Compression, conf.Linger = topic, "none", 50*time.Millisecond
		b := collecttest.New(t, collect.Options{Log: logTo(log)}, 1<<30, output(t, conf))
		b.Send(500)
		b.Wait("all is delivered", caughtUp(b))
		b.Stop()
		if o := b.C.Snapshot().Outputs[0]; o.Dropped != [collect.NumReasons]uint64{} || o.Retried == 0 || !log.has("max.message.bytes") {
			t.Errorf("%+v\n%s", o, strings.Join(log.lines, "\n"))
		}
		seen := map[string]bool{}
		for _, m := range consumeTopic(t, topic, 1000, c.Addresses()) {
			seen[m.ID] = true
		}
		if len(seen) < 1000 {
			t.Errorf("%d ids", len(seen))
		}
	})
}
