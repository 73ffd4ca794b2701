// Parts that several views use.
import { html, useState, useRef } from './vendor/htm-preact-3.1.1.js';
import { count, nonzero, ago, hms, ns, times, ratio, level } from './format.js';

// State is what a view shows where it has no rows: loading, an error with what to do, or empty.
export function State({ poll, rows, empty }) {
  if (poll.error && !poll.data) return html`<p class="state bad" role="alert">${poll.error.message}. ${advice(poll.error)}</p>`;
  if (!poll.data) return html`<p class="state">Loading …</p>`;
  if (poll.error) return html`<p class="state bad" role="alert">Not renewed since ${hms(poll.at)}: ${poll.error.message}. ${advice(poll.error)}</p>`;
  if (!rows) return html`<p class="state">${empty}</p>`;
  return null;
}

function advice(error) {
  if (error.status === 0) return 'Is intsink running? Try: systemctl status intsink. The page tries again by itself.';
  if (error.status === 503) return 'A worker does not answer: look at Sink, and at the log.';
  return '';
}

// helps explain heads whose word is not plain; the pointer on a head shows it.
const reference = 'the latency that was reported last, or came first: the next packets are compared with it';
const helps = {
  reference, 'latency, reference': reference, 'slowest hop, reference': reference,
  'times usual': 'times as long as what is usual there, which is learned from samples',
  'clock skews': 'how often the time between both came out negative: their clocks differ',
  utilization: 'how busy the egress interface is, as its node writes it; per cent where node_model { tx_utilization_full } says what is full',
  'without mbuf': 'packets that were lost because no packet memory (dpdk.mbufs) was free',
  worker: 'a thread that polls; lcore: the CPU that it has',
  'refresh stretched': 'how many times rarer refreshes are than asked for: the budget has no room for more',
  shed: 'reports that the budget had no room for',
  'pauses longer than': 'how often the worker did not poll for so long',
};

// Table shows rows with columns {name, value(row), cell(row), number}. A click on a head sorts; one on a row leads to pick(row).
// Rows that first names come first. While the pointer is on the rows they keep their order: none moves under a click.
export function Table({ caption, columns, rows, id, pick, picked, sort, first = () => false, most = 200 }) {
  const [by, setBy] = useState(sort || null);
  const held = useRef(null), shown = useRef([]);
  const ordered = by ? [...rows].sort((a, b) => order(columns[by.column].value(a), columns[by.column].value(b)) * (by.down ? -1 : 1)) : [...rows];
  const place = (row) => { const i = held.current.indexOf(id(row)); return i < 0 ? held.current.length : i; };
  const sorted = held.current ? ordered.sort((a, b) => place(a) - place(b)) : [...ordered.filter(first), ...ordered.filter((r) => !first(r))];
  shown.current = sorted.map(id);
  const hold = () => { held.current = shown.current; }, release = () => { held.current = null; };
  const head = (column, i) => html`<th scope="col" class=${column.number ? 'number' : ''} title=${helps[column.name]}
    aria-sort=${by && by.column === i ? (by.down ? 'descending' : 'ascending') : 'none'}>
    ${column.value ? html`<button type="button" onClick=${() => setBy({ column: i, down: by && by.column === i ? !by.down : !!column.number })}>${column.name}</button>` : column.name}</th>`;
  const open = (row) => (e) => { if (!e.target.closest('a, button')) location.hash = pick(row); };
  const line = (row) => html`<tr key=${id(row)} data-id=${id(row)} class=${(picked === id(row) ? 'picked' : '') + (pick ? ' leads' : '')} onClick=${pick && open(row)}>
    ${columns.map((c) => html`<td class=${(c.number ? 'number' : '') + (c.value && c.value(row) === 0 ? ' zero' : '')} data-name=${c.name}>${c.cell(row)}</td>`)}</tr>`;
  return html`<div class="scroll" role="region" aria-label=${caption} tabindex="0"><table><caption>${caption}</caption>
    <thead><tr>${columns.map(head)}</tr></thead><tbody onPointerEnter=${hold} onPointerLeave=${release}>${sorted.slice(0, most).map(line)}</tbody></table></div>
    ${sorted.length > most && html`<p class="quiet">The first ${most} of ${count(sorted.length)}.</p>`}`;
}

function order(a, b) {
  if (a == null || b == null) return (a == null ? -1 : 0) + (b == null ? 1 : 0);
  return a < b ? -1 : a > b ? 1 : 0;
}

// Reasons shows counters by reason, those that are not 0.
export function Reasons({ of, none = 'none' }) {
  const all = nonzero(of);
  if (!all.length) return html`<span class="quiet">${none}</span>`;
  return html`<span>${all.map(([name, n], i) => html`${i ? ', ' : ''}<code>${name}</code> ${count(n)}`)}</span>`;
}

// bad is a number that is wrong unless it is 0.
export const bad = (n) => html`<span class=${n > 0 ? 'wrong' : ''}>${count(n)}</span>`;

// Mark says by shape and colour how something is: high (or an error), raised (or a warning), well, over.
export const Mark = ({ is }) => html`<span class=${'mark ' + is} aria-hidden="true">${{ high: '●', raised: '▲', well: '✓', over: '○', gone: '◌' }[is] || ''}</span>`;

// num is a column of numbers by their key; show makes one readable. The columns below it are of places with last_seen and usual.
export const num = (name, key, show = count) => ({ name, number: true, value: (r) => r[key], cell: (r) => show(r[key]) });
export const seen = { name: 'seen', value: (r) => r.last_seen, cell: (r) => ago(r.last_seen) };
const timesUsual = (r) => ratio(r.latency_ns, r.usual.latency_ns);
export const latencies = [num('latency', 'latency_ns', ns),
  { name: 'usual', number: true, value: (r) => r.usual.latency_ns, cell: (r) => (r.usual.latency_ns == null ? html`<span class="quiet">not known yet</span>` : ns(r.usual.latency_ns)) },
  { name: 'times usual', number: true, value: timesUsual, cell: (r) => html`<${Mark} is=${level(r.latency_ns, r.usual)} /> ${times(timesUsual(r))}` }];

// names are those that the configuration has, from the last answer of /api/v1/names.
export const names = { nodes: {}, hosts: {}, gone: {} }; // gone: nodes, as /api/v1/nodes has them
export const nodeName = (id) => names.nodes[id]?.name || String(id);

// Gone says that one of these nodes is gone.
export const Gone = ({ nodes }) => nodes.filter((n) => names.gone[n]).map((n) => html` <span class="pill bad"><${Mark} is="gone" /> ${nodeName(n)} gone ${ago(names.gone[n].last_seen)}</span>`);

// portName is an interface of a node.
export const portName = (node, id) => (id == null ? '-' : names.nodes[node]?.interfaces[id] || String(id));

// wayName is a way that stands as numbers: 101 > 202.
export const wayName = (way) => way.split(' > ').map(nodeName).join(' › ');

// hostsOf says who sends to whom in a flow, where one of both has a name.
function hostsOf(id) {
  const { source: a, destination: b } = matchOf(id);
  return a && (names.hosts[a] || names.hosts[b]) ? `${names.hosts[a] || a} › ${names.hosts[b] || b}` : '';
}

export const NodeLink = ({ node }) => html`<a href=${'#queues/?node=' + node} title=${'queues of node ' + node}>${nodeName(node)}</a>`;

export const Nodes = ({ nodes }) => (nodes ? html`<span class="nodes">${nodes.map((n, i) => html`${i ? ' › ' : ''}<${NodeLink} node=${n} />`)}</span>` : html`<span class="quiet">not described</span>`);

// Flow is a flow's id, which leads to why it is reported, or not.
export const Flow = ({ id }) => html`<a class="flow" href=${'#flows/' + id}><code>${id}</code></a>${hostsOf(id) && html` <small class="quiet">${hostsOf(id)}</small>`}`;

// slowItself tells of an episode that latency made, while the queue was no longer than usual.
export const slowItself = (e) => e.peak_occupancy != null && e.usual_occupancy > 0 && e.peak_occupancy <= 2 * e.usual_occupancy;

// asked are the parameters of the API in an address such as #queues/?node=102.
export const asked = (rest) => (rest.startsWith('?') ? Object.fromEntries(new URLSearchParams(rest.slice(1))) : {});

export const Only = ({ view, rest }) => (rest.startsWith('?') ? html`<p class="quiet">Only ${rest.slice(1).replaceAll('&', ', ').replaceAll('=', ' ')}. <a href=${'#' + view}>Show all</a></p>` : null);

// matchOf is the match of a flow's id, such as udp:10.0.0.1:1-10.0.0.2:2.
export function matchOf(flow) {
  const m = /^(\w+):\[?([0-9a-fA-F.:]+?)\]?(?::(\d+))?-\[?([0-9a-fA-F.:]+?)\]?(?::(\d+))?$/.exec(flow);
  if (!m) return {};
  return { protocol: m[1], source: m[2], source_port: m[3], destination: m[4], destination_port: m[5] };
}

// Was asks, by questions with titles, whether it was the network: each answer is a page of its own.
export const Was = ({ of }) => Object.keys(of).length > 0 && html`<p>Was it the network? ${Object.entries(of).map(([question, title]) => html`<a class="button" target="_blank" href=${`../api/v1/incident?${question}&format=html`}>${title}</a> `)}</p>`;
