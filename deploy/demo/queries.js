// Reads the topic of records into ClickHouse until it has as many as the second argument says, and prints the answers
// to three questions of docs/queries.md. The first argument is a folder for the data.
const { open, question } = require('./session.js');

const [, , dir, want] = process.argv;
const session = open(dir);

function run(sql, format) {
  try {
    return session(sql, format);
  } catch (e) {
    console.error(String(e.cause ? e.cause.message : e.message), '\n', sql);
    process.exit(1);
  }
}

function ask(title, name, parameters) {
  console.log(`\n${title}\n`);
  console.log(run(question(name, parameters), 'PrettyCompactMonoBlock'));
}

const count = () => Number(JSON.parse(run('SELECT toUInt32(uniqExact(id)) AS n FROM int.reports')).n);
const end = Date.now() + 90000;
// The tables per minute are filled behind int.reports.
const hops = () => Number(JSON.parse(run('SELECT toUInt32(sum(reports)) AS n FROM int.hops')).n);
while (count() < Number(want) || hops() === 0) {
  if (Date.now() > end) {
    console.error(`${count()} of ${want} records came`);
    process.exit(1);
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
}
console.log(`${count()} distinct records in int.reports, by way of Kafka; ${want} were delivered.`);
const flow = JSON.parse(run("SELECT flow FROM int.reports WHERE type = 'report' AND has(events, 'path_change') GROUP BY flow ORDER BY count() DESC LIMIT 1")).flow;
ask(`Which way does ${flow} go, over all sinks?`, 'flow_path', { flow: `'${flow}'` });
ask('When did its path change, and why?', 'flow_changes', { flow: `'${flow}'` });
ask('Which nodes are slowest?', 'slowest_nodes');
process.exit(0);
