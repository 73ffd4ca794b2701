// Makes the default values of all blocks and attributes, and the event thresholds of
// profiles dc and wan.

package conf

import "time"

// Limits that several attributes share.
const (
	maxTime      = 24 * time.Hour
	maxResidence = time.Second     // of IFA: a longer one is the clocks', not the queue's
	maxLatency   = 4 * time.Second // 32 bits of nanoseconds end a little above
	maxDeadband  = 2 * time.Second // twice as much fits into 32 bits of nanoseconds
	maxIdleSleep = 10 * time.Millisecond
	minIdle      = 10 * time.Millisecond
	maxRate      = 1_000_000_000
	minHeartbeat = 100 * time.Millisecond
)

// defaultConfig is the configuration of an empty file: what is missing from it
// to run are ports, a link, a marking of INT, a watch and a collector. dpdk.lcores
// depends on the machine: see defaultLcores.
func defaultConfig() *Config {
	return &Config{
		Node:     Node{ID: 0, HwIDBase: 0},
		DPDK:     DPDK{Hugepages: AutoHugepages, Mbufs: 65536, MbufSize: DefaultMbufSize, IdleSleep: 0},
		INT:      defaultINT(),
		Flows:    Flows{Capacity: 1048576, IdleTimeout: 30 * time.Second, Key: OwnKey},
		Recorder: Recorder{Memory: 64 << 20},
		Events:   defaultEvents(DataCenter),
		Report: Report{
			Version:  Report20,
			Layout:   StandardLayout,
			Profile:  "",
			Metadata: []string{"interfaces", "hop_latency", "queue", "ingress_timestamp", "egress_timestamp"},
			Fragment: WholeINT,
			Inner:    InnerIP,
			Explain:  false,
			Coalesce: Coalesce{MaxBytes: ordinaryBytes, MaxReports: 0, MaxDelay: time.Millisecond},
		},
		Overload: Overload{Mode: NeverDegrade, Busy: 0.98, PollGap: 0, FullBursts: 0.9, Enter: 2 * time.Second, Clear: 10 * time.Second},
		Bypass:   Bypass{Heartbeat: 0, After: time.Second, Timeout: 5 * time.Second},
		HTTP:     HTTP{Listen: "127.0.0.1:9465", Socket: "auto", LocalReads: true},
		Log:      Log{Format: AutoLog, Level: InfoLog},
	}
}

func defaultINT() INT {
	return INT{
		TCPOptions: INTAfterOptions, Versions: []string{"2"}, INT1Dialect: StandardINT1, Types: []string{"md", "mx", "destination"},
		ShimLength: ShimExclusive, Checksum: UpdateChecksum, Malformed: ForwardMalformed, Layer: AllLayers, Fragments: PassFragments,
		Leak: ForwardLeaks, LeakMark: ClearMarks,
	}
}

func defaultPort(i int) Port {
	return Port{ID: uint16(min(i+1, 65535)), RxDesc: 1024, TxDesc: 1024, MTU: 0}
}

func defaultMatch() Match { return Match{Flow: AnyLayer} }

func defaultWatch(int) Watch {
	return Watch{Sample: 0, SampleBy: SamplePackets}
}

func defaultCollector(int) Collector {
	return Collector{SourcePortMode: AnySourcePort, TTL: 64, Budget: Budget{Packets: 0, Bits: 0, Burst: 100 * time.Millisecond}}
}

func defaultInstruction(int) Instruction {
	return Instruction{Scope: EachHop, Role: ""}
}

// defaultEvents returns the default of every threshold in a profile.
func defaultEvents(profile EventProfile) Events {
	e := Events{Profile: profile}
	e.NewFlow.Rate, e.NewFlow.AfterRestart = 20000, 10*time.Second
	e.PathChange = PathChange{Paths: 16, Memory: 60 * time.Second, Rate: 10, ECMP: IgnoreECMP}
	e.HopLatency = Deadband{Absolute: 10 * time.Microsecond, Relative: 0.5, K: 2, N: 4, Interval: 100 * time.Millisecond}
	e.EndToEnd = Deadband{Clock: NoClock, Absolute: 50 * time.Microsecond, Relative: 0.5, K: 2, N: 4, Interval: 100 * time.Millisecond}
	e.LinkLatency = Deadband{Absolute: AutoAbsolute, Relative: 0.5, K: 2, N: 4, Interval: time.Second}
	if profile == WAN {
		e.HopLatency.Absolute, e.HopLatency.Relative, e.HopLatency.K, e.HopLatency.N = 100*time.Microsecond, 0.25, 3, 8
		e.EndToEnd.Absolute, e.EndToEnd.Relative, e.EndToEnd.K, e.EndToEnd.N = time.Millisecond, 0.25, 3, 8
		e.LinkLatency.Relative, e.LinkLatency.K, e.LinkLatency.N = 0.25, 3, 8
	}
	e.Congestion = Congestion{Raise: AutoRaise, Factor: 8, RaiseLatency: floorOf(profile), Quota: 32, Timeout: time.Second}
	e.TxUtilization.Raise, e.TxUtilization.Clear, e.TxUtilization.Hold = AutoRaise, 75, 5*time.Second
	e.Refresh.Every, e.Refresh.Jitter, e.Refresh.Most = time.Minute, 0.2, 15*time.Minute
	e.Loss.Window, e.Loss.Timeout, e.Loss.Interval = 1024, 200*time.Millisecond, time.Second
	e.Drop.Interval = time.Second
	e.HopLimit.Rearm = 10 * time.Second
	e.MTUExceeded.Rearm = 10 * time.Second
	return e
}

// floorOf is the default of congestion.raise_latency.
func floorOf(profile EventProfile) time.Duration {
	if profile == WAN {
		return time.Millisecond
	}
	return 100 * time.Microsecond
}
