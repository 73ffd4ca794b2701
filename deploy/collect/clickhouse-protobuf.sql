-- Records of intsink from Kafka into int.reports, which clickhouse.sql makes, for messages of
-- format = "protobuf". It takes the place of clickhouse-kafka.sql. Put intsink.proto into the
-- server's format_schema_path (/var/lib/clickhouse/format_schemas), and your brokers in place
-- of localhost:9092.

-- `make schema` writes the columns, from those of int.reports in clickhouse.sql.
CREATE TABLE IF NOT EXISTS int.kafka
(
    v UInt8,
    type LowCardinality(String),
    id String,
    time Int64,
    received Int64,
    exporter Nullable(String),
    node_id Nullable(UInt32),
    hw_id UInt8,
    version Nullable(Float32),
    sequence UInt64,
    `index` UInt16,
    instance LowCardinality(String),
    events Array(LowCardinality(String)),
    dropped Bool,
    congested Bool,
    tracked Bool,
    drop_reason Nullable(UInt8),
    drop_reason_name LowCardinality(String),
    suppressed Nullable(UInt32),
    lost Nullable(UInt32),
    drops Nullable(UInt32),
    flow_packets Nullable(UInt64),
    flow_bytes Nullable(UInt64),
    event_node Nullable(UInt32),
    reference Nullable(UInt32),
    value Nullable(UInt32),
    flow String,
    source Nullable(String),
    destination Nullable(String),
    source_port Nullable(UInt16),
    destination_port Nullable(UInt16),
    protocol Nullable(UInt8),
    dscp Nullable(UInt8),
    vlan Array(UInt16),
    tcp_flags Nullable(UInt8),
    length Nullable(UInt32),
    source_mac LowCardinality(String),
    destination_mac LowCardinality(String),
    device_id LowCardinality(String),
    path LowCardinality(String),
    hop_count Nullable(UInt16),
    hops Array(Tuple(
        node_id Nullable(UInt32),
        ingress Nullable(UInt32),
        egress Nullable(UInt32),
        ingress2 Nullable(UInt32),
        egress2 Nullable(UInt32),
        latency_ns Nullable(UInt32),
        queue Nullable(UInt8),
        occupancy Nullable(UInt32),
        ingress_time Nullable(UInt64),
        egress_time Nullable(UInt64),
        tx_utilization Nullable(UInt32))),
    latency_ns Nullable(UInt64),
    links Array(Tuple(`from` UInt32, `to` UInt32, latency_ns UInt64)),
    max_hop Nullable(UInt32),
    flags Array(LowCardinality(String)),
    sink Tuple(
        ingress Nullable(UInt16),
        egress Nullable(UInt16),
        latency_ns Nullable(UInt32),
        queue Nullable(UInt8),
        occupancy Nullable(UInt32)),
    first Nullable(UInt64),
    last Nullable(UInt64),
    count Nullable(UInt64),
    stats Tuple(
        received Nullable(UInt64),
        lost Nullable(UInt64),
        late Nullable(UInt64),
        undecodable Nullable(UInt64))
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'localhost:9092',
    kafka_topic_list = 'intsink.reports.v1',
    kafka_group_name = 'clickhouse',
    kafka_format = 'ProtobufSingle',
    kafka_schema = 'intsink:Report';

CREATE MATERIALIZED VIEW IF NOT EXISTS int.kafka_mv TO int.reports AS
SELECT * REPLACE (
    ifNull(node_id, 4294967295) AS node_id,
    fromUnixTimestamp64Nano(time, 'UTC') AS time,
    fromUnixTimestamp64Nano(received, 'UTC') AS received,
    toIPv6OrNull(exporter) AS exporter,
    toIPv6OrNull(source) AS source,
    toIPv6OrNull(destination) AS destination,
    arrayMap(h -> (h.1, h.2, h.3, h.4, h.5, h.6, h.7, h.8,
        fromUnixTimestamp64Nano(toInt64(h.9), 'UTC'), fromUnixTimestamp64Nano(toInt64(h.10), 'UTC'), h.11), hops) AS hops)
FROM int.kafka;
