// ClickHouse of the playground and the demo: tables that read Kafka, and an HTTP server that answers SQL as text. Arguments: a folder for the
// data, an address. One request at a time; nobody but this machine reaches it.
const http = require('http');
const { open } = require('../demo/session.js');

const [, , dir, address] = process.argv;
const run = open(dir);
const [host, port] = address.split(':');

http.createServer((request, response) => {
  const parameters = new URL(request.url, 'http://x').searchParams;
  let sql = parameters.get('query') || '';
  request.on('data', (part) => { sql += part; });
  request.on('end', () => {
    try {
      response.end(sql.trim() ? run(sql, parameters.get('default_format') || 'PrettyCompactMonoBlock') : 'Ok.\n');
    } catch (e) {
      response.statusCode = 400;
      response.end(String(e.cause ? e.cause.message : e.message) + '\n');
    }
  });
}).listen(Number(port), host);
