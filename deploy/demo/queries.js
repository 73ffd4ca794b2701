// Waits until the ClickHouse at an address (deploy/playground/clickhouse.js) has read as many records from the topic as the second
// argument says, and prints the answers to three questions of docs/queries.md.
const { question } = require('./session.js');

const [, , address, want] = process.argv;

async function run(sql, format = 'JSONEachRow') {
  const answer = await fetch(`http://${address}/?default_format=${format}`, { method: 'POST', body: sql });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${text}\n${sql}`);
  return text;
}

const number = async (sql) => Number(JSON.parse(await run(sql)).n);

async function ask(title, name, parameters) {
  console.log(`\n${title}\n`);
  console.log(await run(question(name, parameters), 'PrettyCompactMonoBlock'));
}

async function main() {
  const end = Date.now() + 90000;
  const records = () => number('SELECT toUInt32(uniqExact(id)) AS n FROM int.reports');
  // The tables per minute are filled behind int.reports.
  while ((await records()) < Number(want) || (await number('SELECT toUInt32(sum(reports)) AS n FROM int.hops')) === 0) {
    if (Date.now() > end) throw new Error(`${await records()} of ${want} records came`);
    await new Promise((done) => { setTimeout(done, 300); });
  }
  console.log(`${await records()} distinct records in int.reports, by way of Kafka; ${want} were delivered when it was asked.`);
  const { flow } = JSON.parse(await run("SELECT flow FROM int.reports WHERE type = 'report' AND has(events, 'path_change') GROUP BY flow ORDER BY count() DESC LIMIT 1"));
  await ask(`Which way does ${flow} go, over all sinks?`, 'flow_path', { flow: `'${flow}'` });
  await ask('When did its path change, and why?', 'flow_changes', { flow: `'${flow}'` });
  await ask('Which nodes are slowest?', 'slowest_nodes');
}

main().catch((e) => {
  console.error(e.message);
  process.exit(1);
});
