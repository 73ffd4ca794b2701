-- Columns of int.reports that clickhouse.sql has and a table of an earlier version lacks. Without
-- them such a table goes on taking records: what it has no place for is left out.
--
-- And how columns of int.reports are compressed from now on, how its rows go after seven days, and what tables per minute need to
-- count a block once that comes twice. Tables and views that are new, and what views have learned since, are in clickhouse.sql:
-- docs/collect.md ("Tables of an earlier version") has the command that runs both, and how to change the order of tables.

ALTER TABLE int.reports
    ADD COLUMN IF NOT EXISTS instance LowCardinality(String) AFTER `index`,
    ADD COLUMN IF NOT EXISTS rep_type Nullable(UInt8) AFTER instance,
    ADD COLUMN IF NOT EXISTS in_type Nullable(UInt8) AFTER rep_type,
    ADD COLUMN IF NOT EXISTS intermediate Bool AFTER in_type,
    ADD COLUMN IF NOT EXISTS domain Nullable(UInt16) AFTER intermediate,
    ADD COLUMN IF NOT EXISTS ds_md_bits Nullable(UInt16) AFTER domain,
    ADD COLUMN IF NOT EXISTS ds_md_status Nullable(UInt16) AFTER ds_md_bits,
    ADD COLUMN IF NOT EXISTS problem String AFTER ds_md_status,
    ADD COLUMN IF NOT EXISTS ecn Nullable(UInt8) AFTER dscp,
    ADD COLUMN IF NOT EXISTS vni Nullable(UInt32) AFTER device_id,
    ADD COLUMN IF NOT EXISTS outer Tuple(flow String, source Nullable(IPv6), destination Nullable(IPv6),
        source_port Nullable(UInt16), destination_port Nullable(UInt16), protocol Nullable(UInt8),
        dscp Nullable(UInt8)) AFTER vni,
    ADD COLUMN IF NOT EXISTS inner Tuple(flow String, source Nullable(IPv6), destination Nullable(IPv6),
        source_port Nullable(UInt16), destination_port Nullable(UInt16), protocol Nullable(UInt8),
        dscp Nullable(UInt8)) AFTER outer,
    ADD COLUMN IF NOT EXISTS source_metadata String AFTER max_hop,
    ADD COLUMN IF NOT EXISTS int_type String AFTER flags,
    ADD COLUMN IF NOT EXISTS int_problem String AFTER int_type,
    ADD COLUMN IF NOT EXISTS ds_metadata String AFTER sink,
    ADD COLUMN IF NOT EXISTS data String AFTER ds_metadata,
    ADD COLUMN IF NOT EXISTS tlvs Array(Tuple(type LowCardinality(String), template Nullable(UInt16), data String)) AFTER data,
    ADD COLUMN IF NOT EXISTS episodes Array(Tuple(id UInt32, node UInt32, egress Nullable(UInt16), queue UInt8,
        begin DateTime64(9, 'UTC'), end DateTime64(9, 'UTC'), packets UInt64, bytes UInt64, peak_at Nullable(DateTime64(9,
        'UTC')), peak_latency_ns Nullable(UInt32), peak_occupancy Nullable(UInt32), usual_latency_ns Nullable(UInt32),
        usual_occupancy Nullable(UInt32), window_ns UInt64, window_packets UInt32, window_bytes UInt64, sinks UInt32,
        culprits Array(Tuple(flow String, bytes UInt64, over UInt64)), victims Array(Tuple(flow String, added_ns UInt64,
        over UInt64)), doubt String, other_packets UInt64, other_bytes UInt64)) AFTER tlvs,
    MODIFY COLUMN id String CODEC(ZSTD(1)),
    MODIFY COLUMN time DateTime64(9, 'UTC') CODEC(T64, LZ4),
    MODIFY COLUMN received DateTime64(9, 'UTC') CODEC(T64, LZ4),
    MODIFY COLUMN sequence UInt64 CODEC(T64, LZ4),
    MODIFY COLUMN problem String,
    MODIFY COLUMN events Array(String),
    MODIFY COLUMN drop_reason_name String,
    MODIFY COLUMN flow_packets Nullable(UInt64) CODEC(T64, LZ4),
    MODIFY COLUMN flow_bytes Nullable(UInt64) CODEC(T64, LZ4),
    MODIFY COLUMN source_port Nullable(UInt16) CODEC(T64, LZ4),
    MODIFY COLUMN length Nullable(UInt32) CODEC(T64, LZ4),
    MODIFY COLUMN source_mac String,
    MODIFY COLUMN destination_mac String,
    MODIFY COLUMN device_id String,
    MODIFY COLUMN hops Array(Tuple(node_id Nullable(UInt32), ingress Nullable(UInt32), egress Nullable(UInt32),
        ingress2 Nullable(UInt32), egress2 Nullable(UInt32), latency_ns Nullable(UInt32), queue Nullable(UInt8),
        occupancy Nullable(UInt32), ingress_time Nullable(DateTime64(9, 'UTC')), egress_time Nullable(DateTime64(9, 'UTC')),
        tx_utilization Nullable(UInt32), buffer Nullable(UInt8), buffer_occupancy Nullable(UInt32),
        congestion Nullable(UInt32), ds_metadata String)) CODEC(ZSTD(1)),
    MODIFY COLUMN latency_ns Nullable(UInt64) CODEC(T64, LZ4),
    MODIFY COLUMN links Array(Tuple(`from` UInt32, `to` UInt32, latency_ns UInt64)) CODEC(T64, LZ4),
    MODIFY COLUMN max_hop Nullable(UInt32) CODEC(T64, LZ4),
    MODIFY COLUMN flags Array(String),
    MODIFY COLUMN int_type String,
    MODIFY COLUMN int_problem String,
    MODIFY COLUMN sink Tuple(ingress Nullable(UInt16), egress Nullable(UInt16), latency_ns Nullable(UInt32),
        queue Nullable(UInt8), occupancy Nullable(UInt32), ingress2 Nullable(UInt32), egress2 Nullable(UInt32),
        ingress_time Nullable(DateTime64(9, 'UTC')), egress_time Nullable(DateTime64(9, 'UTC')),
        tx_utilization Nullable(UInt32), buffer Nullable(UInt8), buffer_occupancy Nullable(UInt32)),
    MODIFY COLUMN episodes Array(Tuple(id UInt32, node UInt32, egress Nullable(UInt16), queue UInt8, begin DateTime64(9,
        'UTC'), end DateTime64(9, 'UTC'), packets UInt64, bytes UInt64, peak_at Nullable(DateTime64(9, 'UTC')),
        peak_latency_ns Nullable(UInt32), peak_occupancy Nullable(UInt32), usual_latency_ns Nullable(UInt32),
        usual_occupancy Nullable(UInt32), window_ns UInt64, window_packets UInt32, window_bytes UInt64, sinks UInt32,
        culprits Array(Tuple(flow String, bytes UInt64, over UInt64)), victims Array(Tuple(flow String, added_ns UInt64,
        over UInt64)), doubt String, other_packets UInt64, other_bytes UInt64));

ALTER TABLE int.reports MODIFY SETTING ttl_only_drop_parts = 1, min_bytes_for_wide_part = 104857600, min_rows_for_wide_part = 200001;
ALTER TABLE int.hops MODIFY SETTING non_replicated_deduplication_window = 1000;
ALTER TABLE int.links MODIFY SETTING non_replicated_deduplication_window = 1000;
ALTER TABLE int.queues MODIFY SETTING non_replicated_deduplication_window = 1000;
ALTER TABLE int.paths MODIFY SETTING non_replicated_deduplication_window = 1000;
