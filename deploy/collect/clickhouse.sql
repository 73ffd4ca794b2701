-- Tables of ClickHouse for the records of intsink (docs/records.md), and what is made of
-- them per minute. docs/queries.md has questions and their answers in SQL.
--
--   clickhouse-client --multiquery < clickhouse.sql
--
-- ClickHouse 24.8 or later. Records come by HTTP, from a block clickhouse of intsink collect with table=int.reports,
-- or by Kafka: for that, clickhouse-kafka.sql.
-- A block that comes again under its token, since an answer was lost, counts once in all
-- tables. A restart of the collector can store a record twice: with the same id, so that
-- int.reports FINAL has it once. What is made per minute may count that twice.
--
-- Questions are about a time, and often about a flow: in each ten minutes of int.reports, rows are in the order of flows, so that
-- those of one lie together, and FINAL compares what is asked for and no more. What is made per minute is in the order of hours.
-- What is too old goes in whole parts, without its neighbours being written anew. A block that comes in becomes a part of few
-- files: parts of more rows than collect's blocks, and of 100 MiB of values, have a file for each value of a hop, and are merged value by
-- value.

CREATE DATABASE IF NOT EXISTS int;

CREATE TABLE IF NOT EXISTS int.reports
(
    v UInt8,
    type LowCardinality(String),               -- report, gap, stats, episode
    id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(T64, LZ4),
    received DateTime64(9, 'UTC') CODEC(T64, LZ4),
    exporter Nullable(IPv6),                   -- IPv4 addresses as ::ffff:192.0.2.1
    node_id UInt32 DEFAULT 4294967295,         -- all ones: not known
    hw_id UInt8,
    version Nullable(Float32),                 -- 2, 1 or 0.5
    sequence UInt64 CODEC(T64, LZ4),
    `index` UInt16,
    instance LowCardinality(String),           -- of the sink; empty: not known
    rep_type Nullable(UInt8),
    in_type Nullable(UInt8),
    intermediate Bool,
    domain Nullable(UInt16),
    ds_md_bits Nullable(UInt16),
    ds_md_status Nullable(UInt16),
    problem String,                            -- empty: none
    events Array(String),
    dropped Bool,
    congested Bool,
    tracked Bool,
    drop_reason Nullable(UInt8),
    drop_reason_name String,
    suppressed Nullable(UInt32),
    lost Nullable(UInt32),
    drops Nullable(UInt32),
    flow_packets Nullable(UInt64) CODEC(T64, LZ4),
    flow_bytes Nullable(UInt64) CODEC(T64, LZ4),
    event_node Nullable(UInt32),
    reference Nullable(UInt32),
    value Nullable(UInt32),
    flow String,                               -- empty: not known
    source Nullable(IPv6),
    destination Nullable(IPv6),
    source_port Nullable(UInt16) CODEC(T64, LZ4),
    destination_port Nullable(UInt16),
    protocol Nullable(UInt8),
    dscp Nullable(UInt8),
    ecn Nullable(UInt8),                       -- as it was captured: 0 not ECN-capable, 1 and 2 capable, 3 marked by a queue (CE)
    vlan Array(UInt16),
    tcp_flags Nullable(UInt8),
    length Nullable(UInt32) CODEC(T64, LZ4),
    source_mac String,
    destination_mac String,
    device_id String,
    vni Nullable(UInt32),
    outer Tuple(                               -- the tunnel around the flow
        flow String,
        source Nullable(IPv6),
        destination Nullable(IPv6),
        source_port Nullable(UInt16),
        destination_port Nullable(UInt16),
        protocol Nullable(UInt8),
        dscp Nullable(UInt8)),
    inner Tuple(                               -- the packet in the tunnel that the flow is
        flow String,
        source Nullable(IPv6),
        destination Nullable(IPv6),
        source_port Nullable(UInt16),
        destination_port Nullable(UInt16),
        protocol Nullable(UInt8),
        dscp Nullable(UInt8)),
    path LowCardinality(String),               -- empty: not known
    hop_count Nullable(UInt16),
    hops Array(Tuple(                          -- the source's first
        node_id Nullable(UInt32),
        ingress Nullable(UInt32),
        egress Nullable(UInt32),
        ingress2 Nullable(UInt32),
        egress2 Nullable(UInt32),
        latency_ns Nullable(UInt32),
        queue Nullable(UInt8),
        occupancy Nullable(UInt32),
        ingress_time Nullable(DateTime64(9, 'UTC')),
        egress_time Nullable(DateTime64(9, 'UTC')),
        tx_utilization Nullable(UInt32),
        buffer Nullable(UInt8),
        buffer_occupancy Nullable(UInt32),
        congestion Nullable(UInt32),
        ds_metadata String)) CODEC(ZSTD(1)),
    latency_ns Nullable(UInt64) CODEC(T64, LZ4),
    links Array(Tuple(`from` UInt32, `to` UInt32, latency_ns UInt64)) CODEC(T64, LZ4),
    max_hop Nullable(UInt32) CODEC(T64, LZ4),
    source_metadata String,                    -- hexadecimal, as all bytes
    flags Array(String),
    int_type String,                           -- ifa, ioam, mx, destination; empty: INT-MD, or none
    int_problem String,                        -- empty: none
    sink Tuple(
        ingress Nullable(UInt16),
        egress Nullable(UInt16),
        latency_ns Nullable(UInt32),
        queue Nullable(UInt8),
        occupancy Nullable(UInt32),
        ingress2 Nullable(UInt32),
        egress2 Nullable(UInt32),
        ingress_time Nullable(DateTime64(9, 'UTC')),
        egress_time Nullable(DateTime64(9, 'UTC')),
        tx_utilization Nullable(UInt32),
        buffer Nullable(UInt8),
        buffer_occupancy Nullable(UInt32)),
    ds_metadata String,
    data String,
    tlvs Array(Tuple(type LowCardinality(String), template Nullable(UInt16), data String)),
    episodes Array(Tuple(                      -- those that ended; of type episode one
        id UInt32,
        node UInt32,
        egress Nullable(UInt16),
        queue UInt8,
        begin DateTime64(9, 'UTC'),
        end DateTime64(9, 'UTC'),
        packets UInt64,
        bytes UInt64,
        peak_at Nullable(DateTime64(9, 'UTC')),
        peak_latency_ns Nullable(UInt32),
        peak_occupancy Nullable(UInt32),
        usual_latency_ns Nullable(UInt32),
        usual_occupancy Nullable(UInt32),
        window_ns UInt64,
        window_packets UInt32,
        window_bytes UInt64,
        sinks UInt32,
        culprits Array(Tuple(flow String, bytes UInt64, over UInt64)),
        victims Array(Tuple(flow String, added_ns UInt64, over UInt64)),
        doubt String,
        other_packets UInt64,
        other_bytes UInt64)),
    first Nullable(UInt64),
    last Nullable(UInt64),
    count Nullable(UInt64),
    stats Tuple(
        received Nullable(UInt64),
        lost Nullable(UInt64),
        late Nullable(UInt64),
        undecodable Nullable(UInt64))
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(time)
ORDER BY (toStartOfTenMinutes(time), flow, id)
TTL toDateTime(time) + INTERVAL 7 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 104857600, min_rows_for_wide_part = 200001;

-- Views take hops apart by their values: a hop as a whole would be copied with all of its values, and with the arrays beside it.

-- Hop latency: by node and the interface that packets leave it by.
CREATE TABLE IF NOT EXISTS int.hops
(
    minute DateTime('UTC') CODEC(T64, LZ4),
    node UInt32,
    egress UInt32,                             -- 4294967295: not known
    latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99), UInt32) CODEC(ZSTD(1)),
    latency_max SimpleAggregateFunction(max, UInt32) CODEC(T64, LZ4),
    reports SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4)
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(minute)
ORDER BY (toStartOfHour(minute), node, egress, minute)
TTL minute + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.hops_mv TO int.hops AS
SELECT
    minute,
    assumeNotNull(hop_node) AS node,
    ifNull(hop_egress, 4294967295) AS egress,
    quantilesTDigestState(0.5, 0.9, 0.99)(assumeNotNull(hop_latency)) AS latency,
    max(assumeNotNull(hop_latency)) AS latency_max,
    count() AS reports
FROM
(
    SELECT
        toStartOfMinute(toDateTime(time, 'UTC')) AS minute,
        tupleElement(hops, 'node_id') AS nodes,
        tupleElement(hops, 'egress') AS interfaces,
        tupleElement(hops, 'latency_ns') AS latencies
    FROM int.reports
    WHERE type = 'report'
)
ARRAY JOIN nodes AS hop_node, interfaces AS hop_egress, latencies AS hop_latency
WHERE isNotNull(hop_node) AND isNotNull(hop_latency)
GROUP BY minute, node, egress;

-- Link latency: from one node to the next.
CREATE TABLE IF NOT EXISTS int.links
(
    minute DateTime('UTC') CODEC(T64, LZ4),
    from_node UInt32,
    to_node UInt32,
    latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99), UInt64) CODEC(ZSTD(1)),
    latency_max SimpleAggregateFunction(max, UInt64) CODEC(T64, LZ4),
    reports SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4)
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(minute)
ORDER BY (toStartOfHour(minute), from_node, to_node, minute)
TTL minute + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.links_mv TO int.links AS
SELECT
    minute,
    from_node,
    to_node,
    quantilesTDigestState(0.5, 0.9, 0.99)(link_latency) AS latency,
    max(link_latency) AS latency_max,
    count() AS reports
FROM
(
    SELECT
        toStartOfMinute(toDateTime(time, 'UTC')) AS minute,
        tupleElement(links, 'from') AS sources,
        tupleElement(links, 'to') AS targets,
        tupleElement(links, 'latency_ns') AS latencies
    FROM int.reports
    WHERE type = 'report'
)
ARRAY JOIN sources AS from_node, targets AS to_node, latencies AS link_latency
GROUP BY minute, from_node, to_node;

-- Queues: how long they were, and how many flows passed them.
CREATE TABLE IF NOT EXISTS int.queues
(
    minute DateTime('UTC') CODEC(T64, LZ4),
    node UInt32,
    egress UInt32,                             -- 4294967295: not known
    queue UInt8,
    occupancy AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99), UInt32) CODEC(ZSTD(1)),
    occupancy_max SimpleAggregateFunction(max, UInt32) CODEC(T64, LZ4),
    congested SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4),
    flows AggregateFunction(uniq, String),
    reports SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4)
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(minute)
ORDER BY (toStartOfHour(minute), node, egress, queue, minute)
TTL minute + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.queues_mv TO int.queues AS
SELECT
    minute,
    assumeNotNull(hop_node) AS node,
    ifNull(hop_egress, 4294967295) AS egress,
    ifNull(hop_queue, 0) AS queue,
    quantilesTDigestState(0.5, 0.9, 0.99)(assumeNotNull(hop_occupancy)) AS occupancy,
    max(assumeNotNull(hop_occupancy)) AS occupancy_max,
    -- Of the hops of a report, the one that congestion was found at: the event names its node; who does not explain its reports means
    -- the longest queue.
    sum(toUInt64(with_bit_q AND if(named, hop_node = event_node, hop_occupancy = longest))) AS congested,
    uniqState(flow) AS flows,
    count() AS reports
FROM
(
    SELECT
        toStartOfMinute(toDateTime(time, 'UTC')) AS minute,
        flow,
        congested AS with_bit_q,
        event_node,
        has(events, 'congestion') AND isNotNull(event_node) AS named,
        tupleElement(hops, 'node_id') AS nodes,
        tupleElement(hops, 'egress') AS interfaces,
        tupleElement(hops, 'queue') AS numbers,
        tupleElement(hops, 'occupancy') AS occupancies,
        if(congested, arrayMax(arrayMap(o -> ifNull(o, 0), occupancies)), 0) AS longest
    FROM int.reports
    WHERE type = 'report'
)
ARRAY JOIN nodes AS hop_node, interfaces AS hop_egress, numbers AS hop_queue, occupancies AS hop_occupancy
WHERE isNotNull(hop_node) AND isNotNull(hop_occupancy)
GROUP BY minute, node, egress, queue;

-- Paths: what they consist of, when they were seen, and by how many flows.
CREATE TABLE IF NOT EXISTS int.paths
(
    day Date,
    path LowCardinality(String),
    nodes SimpleAggregateFunction(any, Array(UInt32)),         -- the source's first
    ingress SimpleAggregateFunction(any, Array(UInt32)),
    egress SimpleAggregateFunction(any, Array(UInt32)),
    first_seen SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    last_seen SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
    latency AggregateFunction(quantilesTDigest(0.5, 0.9, 0.99), UInt64) CODEC(ZSTD(1)),
    flows AggregateFunction(uniq, String),
    reports SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, path)
TTL day + INTERVAL 1 YEAR
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.paths_mv TO int.paths AS
SELECT
    toDate(time) AS day,
    path,
    arrayMap(n -> ifNull(n, 4294967295), any(tupleElement(hops, 'node_id'))) AS nodes,
    arrayMap(n -> ifNull(n, 4294967295), any(tupleElement(hops, 'ingress'))) AS ingress,
    arrayMap(n -> ifNull(n, 4294967295), any(tupleElement(hops, 'egress'))) AS egress,
    min(time) AS first_seen,
    max(time) AS last_seen,
    quantilesTDigestStateIf(0.5, 0.9, 0.99)(ifNull(latency_ns, 0), isNotNull(latency_ns)) AS latency,
    uniqState(flow) AS flows,
    count() AS reports
FROM int.reports
WHERE type = 'report' AND path != ''
GROUP BY day, path;

-- Streams of report packets: what came and what did not, exactly. A record that was stored
-- twice is one row after FINAL.
CREATE TABLE IF NOT EXISTS int.streams
(
    time DateTime('UTC'),
    id String,
    exporter Nullable(IPv6),
    node UInt32,
    hw_id UInt8,
    received UInt64,
    lost UInt64,
    late UInt64,
    undecodable UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (toStartOfHour(time), node, hw_id, time, id)
TTL time + INTERVAL 1 YEAR
SETTINGS ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.streams_mv TO int.streams AS
SELECT
    toDateTime(time, 'UTC') AS time, id, exporter, node_id AS node, hw_id,
    ifNull(tupleElement(stats, 'received'), 0) AS received, ifNull(tupleElement(stats, 'lost'), 0) AS lost,
    ifNull(tupleElement(stats, 'late'), 0) AS late, ifNull(tupleElement(stats, 'undecodable'), 0) AS undecodable
FROM int.reports
WHERE type = 'stats';

-- Report packets that never came, range by range.
CREATE TABLE IF NOT EXISTS int.gaps
(
    time DateTime('UTC'),
    id String,
    exporter Nullable(IPv6),
    node UInt32,
    hw_id UInt8,
    first UInt64,
    last UInt64,
    count UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (node, hw_id, id)
TTL time + INTERVAL 1 YEAR;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.gaps_mv TO int.gaps AS
SELECT
    toDateTime(time, 'UTC') AS time, id, exporter, node_id AS node, hw_id,
    ifNull(first, 0) AS first, ifNull(last, 0) AS last, ifNull(count, 0) AS count
FROM int.reports
WHERE type = 'gap';

-- Episodes of queues: from the onset of congestion to its end, who filled the queue, who waited. An
-- episode to which one more sink adds what it saw, later, is one row after FINAL.
CREATE TABLE IF NOT EXISTS int.episodes
(
    id String,
    node UInt32,
    egress UInt32,                             -- 4294967295: not known
    queue UInt8,
    begin DateTime64(9, 'UTC'),
    end DateTime64(9, 'UTC'),
    packets UInt64,
    bytes UInt64,
    peak_at Nullable(DateTime64(9, 'UTC')),
    peak_latency_ns Nullable(UInt32),
    peak_occupancy Nullable(UInt32),
    usual_latency_ns Nullable(UInt32),
    usual_occupancy Nullable(UInt32),
    window_ns UInt64,
    window_packets UInt32,
    window_bytes UInt64,
    sinks UInt32,
    culprits Array(Tuple(flow String, bytes UInt64, over UInt64)),
    victims Array(Tuple(flow String, added_ns UInt64, over UInt64)),
    doubt LowCardinality(String),               -- why nobody is accused; '': the culprits are
    other_packets UInt64,
    other_bytes UInt64                         -- of flows that the sinks had no room to know
)
ENGINE = ReplacingMergeTree(sinks)
ORDER BY (node, egress, queue, id)
TTL toDateTime(begin) + INTERVAL 1 YEAR;

-- Of an earlier version.
ALTER TABLE int.episodes ADD COLUMN IF NOT EXISTS doubt LowCardinality(String),
    ADD COLUMN IF NOT EXISTS other_packets UInt64, ADD COLUMN IF NOT EXISTS other_bytes UInt64;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.episodes_mv TO int.episodes AS
SELECT
    id, e.2 AS node, ifNull(toUInt32(e.3), 4294967295) AS egress, e.4 AS queue, e.5 AS begin, e.6 AS end,
    e.7 AS packets, e.8 AS bytes, e.9 AS peak_at, e.10 AS peak_latency_ns, e.11 AS peak_occupancy,
    e.12 AS usual_latency_ns, e.13 AS usual_occupancy, e.14 AS window_ns, e.15 AS window_packets,
    e.16 AS window_bytes, e.17 AS sinks, e.18 AS culprits, e.19 AS victims, e.20 AS doubt,
    e.21 AS other_packets, e.22 AS other_bytes
FROM int.reports ARRAY JOIN episodes AS e
WHERE type = 'episode';

-- Streams per minute.
CREATE VIEW IF NOT EXISTS int.streams_per_minute AS
SELECT
    toStartOfMinute(time) AS minute, exporter, node, hw_id,
    sum(s.received) AS received, sum(s.lost) AS lost, sum(s.late) AS late, sum(s.undecodable) AS undecodable
FROM int.streams AS s FINAL
GROUP BY minute, exporter, node, hw_id;

-- What people call a node: its number, until clickhouse-names.sql knows more.
CREATE FUNCTION IF NOT EXISTS intsinkNode AS (node) -> ifNull(toString(node), '-');
