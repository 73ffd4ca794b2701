-- Names of nodes and their interfaces, as block names of intsink-collect has them: a dictionary that
-- ClickHouse reads from there each minute. docs/queries.md shows how to ask it.
--
--   clickhouse-client --multiquery < clickhouse-names.sql
--
-- Write the collector's address in place of 127.0.0.1:9466 where it is another machine.

CREATE DICTIONARY IF NOT EXISTS int.names
(
    node UInt32,
    interface UInt32, -- 4294967295: of the node itself
    name String
)
PRIMARY KEY node, interface
SOURCE(HTTP(url 'http://127.0.0.1:9466/api/v1/names' format 'TabSeparated'))
LIFETIME(MIN 30 MAX 60)
LAYOUT(COMPLEX_KEY_HASHED());

-- What people call a node, for the boards of deploy/grafana.
CREATE OR REPLACE FUNCTION intsinkNode AS (node) ->
    dictGetOrDefault('int.names', 'name', (toUInt32(ifNull(node, 4294967295)), toUInt32(4294967295)), ifNull(toString(node), '-'));
