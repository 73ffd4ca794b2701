# Runs queries in ClickHouse inside of this process (chdb), of the version in the folder that the environment names: one JSON
# object {sql, format} a line from stdin, one {text} or {error} a line to stdout. The first argument is the directory of the data.
import json
import os
import sys
from unittest.mock import MagicMock

for name in ("pyarrow", "pandas"):  # the package asks for them at once, and needs them only for tables of theirs
    sys.modules.setdefault(name, MagicMock())
sys.path.insert(0, os.environ["CLICKHOUSE"])
from chdb.session import Session  # noqa: E402: the path is needed first

session = Session(sys.argv[1])
for line in sys.stdin:
    query = json.loads(line)
    try:
        answer = {"text": str(session.query(query["sql"], query.get("format") or "JSONEachRow"))}
    except Exception as e:  # of ClickHouse: whatever is wrong with the query
        answer = {"error": str(e)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
