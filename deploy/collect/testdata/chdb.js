// Runs queries in ClickHouse inside of this process (chdb): one JSON object {sql, format} a
// line from stdin, one {text} or {error} a line to stdout. The first argument is the
// directory of the data.
const readline = require('readline');
const { Session } = require('chdb');

const session = new Session(process.argv[2]);
const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { sql, format } = JSON.parse(line);
  let answer;
  try {
    answer = { text: session.query(sql, format || 'JSONEachRow') };
  } catch (e) {
    answer = { error: String(e.cause ? e.cause.message : e.message) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
lines.on('close', () => process.exit(0));
