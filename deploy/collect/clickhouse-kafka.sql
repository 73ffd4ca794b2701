-- Records of intsink from Kafka into int.reports, which clickhouse.sql makes. Before you run
-- it, put your brokers in place of localhost:9092:
--
--   sed s/localhost:9092/kafka1:9092,kafka2:9092/ clickhouse-kafka.sql | clickhouse-client --multiquery
--
-- For messages of format = "protobuf", see clickhouse-protobuf.sql.

-- `make schema` writes the columns, from exporters/record/generate/table.go.
CREATE TABLE IF NOT EXISTS int.kafka
(
    v UInt8,
    type LowCardinality(String),
    id String,
    time DateTime64(9, 'UTC'),
    received DateTime64(9, 'UTC'),
    exporter Nullable(IPv6),
    node_id Nullable(UInt32),
    hw_id UInt8,
    version Nullable(Float32),
    sequence UInt64,
    `index` UInt16,
    instance LowCardinality(String),
    rep_type Nullable(UInt8),
    in_type Nullable(UInt8),
    intermediate Bool,
    domain Nullable(UInt16),
    ds_md_bits Nullable(UInt16),
    ds_md_status Nullable(UInt16),
    problem String,
    events Array(String),
    dropped Bool,
    congested Bool,
    tracked Bool,
    drop_reason Nullable(UInt8),
    drop_reason_name String,
    suppressed Nullable(UInt32),
    lost Nullable(UInt32),
    drops Nullable(UInt32),
    flow_packets Nullable(UInt64),
    flow_bytes Nullable(UInt64),
    event_node Nullable(UInt32),
    reference Nullable(UInt32),
    value Nullable(UInt32),
    flow String,
    source Nullable(IPv6),
    destination Nullable(IPv6),
    source_port Nullable(UInt16),
    destination_port Nullable(UInt16),
    protocol Nullable(UInt8),
    dscp Nullable(UInt8),
    ecn Nullable(UInt8),
    vlan Array(UInt16),
    tcp_flags Nullable(UInt8),
    length Nullable(UInt32),
    source_mac String,
    destination_mac String,
    device_id String,
    vni Nullable(UInt32),
    outer Tuple(
        flow String,
        source Nullable(IPv6),
        destination Nullable(IPv6),
        source_port Nullable(UInt16),
        destination_port Nullable(UInt16),
        protocol Nullable(UInt8),
        dscp Nullable(UInt8)),
    inner Tuple(
        flow String,
        source Nullable(IPv6),
        destination Nullable(IPv6),
        source_port Nullable(UInt16),
        destination_port Nullable(UInt16),
        protocol Nullable(UInt8),
        dscp Nullable(UInt8)),
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
        ingress_time Nullable(DateTime64(9, 'UTC')),
        egress_time Nullable(DateTime64(9, 'UTC')),
        tx_utilization Nullable(UInt32),
        buffer Nullable(UInt8),
        buffer_occupancy Nullable(UInt32),
        congestion Nullable(UInt32),
        ds_metadata String)),
    latency_ns Nullable(UInt64),
    links Array(Tuple(`from` UInt32, `to` UInt32, latency_ns UInt64)),
    max_hop Nullable(UInt32),
    source_metadata String,
    flags Array(String),
    int_type String,
    int_problem String,
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
    episodes Array(Tuple(
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
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'localhost:9092',
    kafka_topic_list = 'intsink.reports.v1',
    kafka_group_name = 'clickhouse',
    kafka_format = 'JSONEachRow',
    kafka_handle_error_mode = 'stream',        -- a message that is no record does not stop the others
    date_time_input_format = 'best_effort',
    input_format_skip_unknown_fields = 1;      -- fields of a later version

CREATE MATERIALIZED VIEW IF NOT EXISTS int.kafka_mv TO int.reports AS
SELECT * REPLACE (ifNull(node_id, 4294967295) AS node_id)
FROM int.kafka
WHERE empty(_error);

-- What was no record.
CREATE TABLE IF NOT EXISTS int.kafka_errors
(
    time DateTime('UTC'),
    topic LowCardinality(String),
    partition UInt64,
    `offset` UInt64,
    error String,
    message String
)
ENGINE = MergeTree
ORDER BY time
TTL time + INTERVAL 7 DAY;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.kafka_errors_mv TO int.kafka_errors AS
SELECT now('UTC') AS time, _topic AS topic, _partition AS partition, _offset AS `offset`, _error AS error, _raw_message AS message
FROM int.kafka
WHERE notEmpty(_error);
