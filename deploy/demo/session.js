// ClickHouse inside of this process (chdb), with the tables of deploy/collect, which read the topic of records.
const fs = require('fs');

// open makes the tables in a folder.
function open(dir) {
  const { Session } = require('chdb');
  const session = new Session(dir);
  const run = (sql, format) => session.query(sql, format || 'JSONEachRow');
  for (const path of ['deploy/collect/clickhouse.sql', 'deploy/collect/clickhouse-kafka.sql', 'deploy/collect/clickhouse-problems.sql']) {
    const text = fs.readFileSync(path, 'utf8').replace(/--.*$/gm, '').replaceAll('localhost:9092', '127.0.0.1:9092');
    text.split(';').filter((sql) => sql.trim()).forEach((sql) => run(sql));
  }
  return run;
}

// question returns the SQL that docs/queries.md has under a name, undefined where there is none.
function question(name, parameters = {}) {
  const found = fs.readFileSync('docs/queries.md', 'utf8').split('```sql\n').find((part) => part.startsWith(`-- ${name}\n`));
  let sql = found && found.split('```')[0];
  for (const [key, value] of Object.entries(parameters)) sql = sql.replaceAll(new RegExp(`\\{${key}:[^}]*\\}`, 'g'), value);
  return sql;
}

module.exports = { open, question };
