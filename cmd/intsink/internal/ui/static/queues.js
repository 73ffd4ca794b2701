// Queues as a heat map over the last ten minutes, kept in this browser: a row for
// each queue, a column for each ten seconds, the highest occupancy in each; and the flows
// through the node of a queue.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll } from './api.js';
import { State, Table, Nodes, NodeLink, Only, asked } from './parts.js';
import { ns, count, ago, heat } from './format.js';

const cell = 10000, cells = 60;

export function Queues({ rest }) {
  const poll = usePoll('queues', { limit: 200, ...asked(rest) });
  const history = remember(poll.data);
  const rows = poll.data ? poll.data.items : [];
  const picked = rows.find((q) => name(q) === rest);
  const high = Math.max(1, ...rows.map((q) => Math.max(q.occupancy || 0, ...Object.values(history.get(name(q)) || {}))));
  return html`<${Only} view="queues" rest=${rest} /><${State} poll=${poll} rows=${rows.length} empty="No queue is known: packets have to carry a queue and its occupancy (instruction bit 3), and a watch block has to match them." />
    ${rows.length > 0 && html`<${HeatMap} rows=${rows} history=${history} high=${high} picked=${rest} />
    <${Table} caption="Queues" id=${name} rows=${rows} picked=${rest} pick=${(q) => { location.hash = 'queues/' + name(q); }} columns=${columns} />`}
    ${picked && html`<${Through} q=${picked} />`}`;
}

// name of a queue: node, egress interface, queue id.
const name = (q) => q.id;

const columns = [
  { name: 'node : egress : queue', value: name, cell: (q) => html`<b><${NodeLink} node=${q.node} />${name(q).slice(String(q.node).length)}</b>` },
  { name: 'occupancy', number: true, value: (q) => q.occupancy, cell: (q) => count(q.occupancy) },
  { name: 'latency', number: true, value: (q) => q.latency_ns, cell: (q) => ns(q.latency_ns) },
  { name: 'state', value: (q) => q.congested, cell: (q) => (q.congested ? html`<span class="pill bad">congested since ${ago(q.since)}</span>` : 'calm') },
  { name: 'episodes', number: true, value: (q) => q.episodes, cell: (q) => count(q.episodes) },
  { name: 'reports of this episode', number: true, value: (q) => q.reports, cell: (q) => count(q.reports) },
  { name: 'seen', value: (q) => q.last_seen, cell: (q) => ago(q.last_seen) },
];

// memory outlives the view: another tab and back, and the history is still there.
const memory = new Map();

// remember keeps the highest occupancy of each queue in each cell of time.
function remember(data) {
  if (!data) return memory;
  const now = Math.floor(Date.now() / cell);
  for (const q of data.items) {
    const row = memory.get(name(q)) || {};
    if (Date.now() - Date.parse(q.last_seen) < cell) row[now] = Math.max(row[now] || 0, q.occupancy || 0);
    for (const at of Object.keys(row)) if (at <= now - cells) delete row[at];
    memory.set(name(q), row);
  }
  return memory;
}

function HeatMap({ rows, history, high, picked }) {
  const now = Math.floor(Date.now() / cell);
  const times = Array.from({ length: cells }, (_, i) => now - cells + 1 + i);
  return html`<figure class="heatmap" role="img" aria-label="occupancy of queues over the last ten minutes"><div class="grid">
    ${rows.slice(0, 40).map((q) => html`<a class=${'label' + (picked === name(q) ? ' picked' : '')} href=${'#queues/' + name(q)}>${name(q)}</a>
      ${times.map((t) => { const v = (history.get(name(q)) || {})[t]; return html`<span class=${'cell ' + heat(v, 0, high)} title=${v == null ? '' : `${name(q)}: ${v}`}></span>`; })}`)}</div>
    <figcaption>Ten minutes, ten seconds a column, now at the right; blue is empty, red is ${count(high)}. The history begins when this view is first opened, and stands still while another one is.</figcaption></figure>`;
}

// Through shows flows through the node of a queue: those with the most bytes and those with the
// highest latency. Which of them crossed the queue, and when, the flow table does not say.
function Through({ q }) {
  const bytes = usePoll('flows', { node: q.node, sort: 'bytes', limit: 8 });
  const slow = usePoll('flows', { node: q.node, sort: 'hop_latency', limit: 8 });
  const list = (poll, title, value) => html`<section><h3>${title}</h3><${State} poll=${poll} rows=${poll.data && poll.data.items.length} empty="No flow crosses this node now." />
    ${poll.data && html`<ol>${poll.data.items.map((f) => html`<li><a href=${'#flows/' + f.id}><code>${f.id}</code></a> ${value(f)} <${Nodes} nodes=${f.nodes} /></li>`)}</ol>`}</section>`;
  return html`<div class="split" id="through">${list(bytes, `Flows through node ${q.node}, by bytes since each began`, (f) => count(f.bytes) + 'B')}
    ${list(slow, `Flows through node ${q.node}, by their slowest hop on any node`, (f) => ns(f.max_hop_latency_ns))}</div>
    <p class="quiet">These flows cross the node, not all of them this queue. <a href=${'#flows/?node=' + q.node}>All of them</a>, <a href=${'#paths/?node=' + q.node}>paths through node ${q.node}</a></p>`;
}
