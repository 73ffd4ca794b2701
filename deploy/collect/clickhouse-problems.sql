-- Problems of all sinks, told by their webhooks (block notify): what was wrong, where, since when, who did it.
--
--   clickhouse-client --multiquery < clickhouse-problems.sql
--
-- A sink posts to ClickHouse itself; the user may insert into int.problem_posts and no more:
--
--   notify "clickhouse" {
--     url = "https://USER:PASSWORD@clickhouse.example.net:8443/?query=INSERT%20INTO%20int.problem_posts%20FORMAT%20JSONEachRow&input_format_json_read_objects_as_strings=1&input_format_skip_unknown_fields=1"
--   }

CREATE TABLE IF NOT EXISTS int.problems
(
    node UInt32,                               -- of the sink
    host LowCardinality(String),               -- that it runs on
    id UInt64,                                 -- counts up, for each sink; from 1 again where a sink has no state folder
    kind LowCardinality(String),
    severity LowCardinality(String),
    place String,                              -- node 302, egress 12, queue 2
    what String,
    since DateTime64(3, 'UTC'),
    until Nullable(DateTime64(3, 'UTC')),      -- it is wrong now
    value Nullable(Float64),
    usual Nullable(Float64),
    unit LowCardinality(String),
    flows Array(String),
    culprits Array(Tuple(flow String, bytes UInt64, share Float64)),
    told DateTime64(3, 'UTC'),                 -- when ClickHouse heard the last of it
    problem String                             -- as the API has it
)
ENGINE = ReplacingMergeTree(told)
ORDER BY (node, host, since, id)
TTL toDateTime(since) + INTERVAL 1 YEAR;

CREATE TABLE IF NOT EXISTS int.problem_posts
(
    event String,
    problem String,
    sink String,
    text String
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS int.problems_mv TO int.problems AS
SELECT
    JSONExtractUInt(sink, 'node') AS node,
    JSONExtractString(sink, 'host') AS host,
    JSONExtractUInt(problem, 'id') AS id,
    JSONExtractString(problem, 'kind') AS kind,
    JSONExtractString(problem, 'severity') AS severity,
    arrayStringConcat(arrayMap(p -> concat(JSONExtractString(p, 'what'), ' ', JSONExtractString(p, 'id')), JSONExtractArrayRaw(problem, 'place')), ', ') AS place,
    JSONExtractString(problem, 'what') AS what,
    parseDateTime64BestEffort(JSONExtractString(problem, 'since'), 3, 'UTC') AS since,
    parseDateTime64BestEffortOrNull(JSONExtractString(problem, 'until'), 3, 'UTC') AS until,
    JSONExtract(problem, 'value', 'Nullable(Float64)') AS value,
    JSONExtract(problem, 'usual', 'Nullable(Float64)') AS usual,
    JSONExtractString(problem, 'unit') AS unit,
    JSONExtract(problem, 'evidence', 'flows', 'Array(String)') AS flows,
    JSONExtract(problem, 'evidence', 'culprits', 'Array(Tuple(flow String, bytes UInt64, share Float64))') AS culprits,
    now64(3, 'UTC') AS told,
    problem
FROM int.problem_posts;
