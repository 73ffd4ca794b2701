// Flows, by packets, latency or losses, and why one of them is reported or not.
import { html, useState, useEffect } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Nodes, Flow, Mark, Was, matchOf, bad, num, seen } from './parts.js';
import { ns, count, ago, percent, times, ratio, level } from './format.js';

const sorts = [['packets', 'most packets'], ['lost', 'most lost'], ['ecn_marked', 'most marked (ECN)'], ['bytes', 'most bytes'], ['last_seen', 'seen last'], ['latency', 'highest latency, whole path'], ['hop_latency', 'highest latency, one hop']];

export function Flows({ rest, problems }) {
  const [sort, setSort] = useState('packets');
  const [typed, setTyped] = useState('');
  const [filter, setFilter] = useState('');
  useEffect(() => { // an address such as #flows/?node=102 is a filter
    if (rest.startsWith('?')) setTyped(rest.slice(1).replaceAll('&', ' '));
  }, [rest]);
  useEffect(() => { // once somebody stops typing
    const later = setTimeout(() => setFilter(typed), 400);
    return () => clearTimeout(later);
  }, [typed]);
  const parameters = { sort, limit: 50, ...parse(filter) };
  const poll = usePoll('flows', parameters);
  const picked = rest && !rest.startsWith('?') ? rest : null;
  const rows = items(poll);
  const here = rows.some((f) => f.lost) && items(problems).some((p) => p.kind === 'packets_missed' && (!p.until || Date.now() - Date.parse(p.until) < 600000)) ? '; the sink itself missed packets lately, which count as lost' : '';
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}>
      <label>order <select id="flow-sort" value=${sort} onChange=${(e) => setSort(e.target.value)}>${sorts.map(([v, t]) => html`<option value=${v}>${t}</option>`)}</select></label>
      <label>filter <input id="flow-filter" size="46" placeholder="10.0.0.18 or destination=10.0.0.0/8 node=112" value=${typed} onInput=${(e) => setTyped(e.target.value)} /></label>
      ${poll.data && html`<span class="quiet">${rows.length} of ${count(poll.data.totals.flows)} shown; ${count(poll.data.totals.flows_in_table)} flows in all</span>`}
    </form>
    <${State} poll=${poll} rows=${rows.length} empty="No flow with INT is known. Links shows whether packets arrive and whether INT is seen in them; flows are watched where a watch block matches." />
    ${picked && html`<${Why} id=${picked} />`}
    ${rows.length > 0 && html`<${Table} caption=${"Flows" + here} id=${(f) => f.id} rows=${rows} picked=${picked} pick=${(f) => 'flows/' + f.id} columns=${rows.some((f) => f.sink) ? [...columns, { name: 'sink', value: (f) => f.sink, cell: (f) => f.sink }] : columns} />`}`;
}

// lastReport is what a flow was last reported for. That it began, new_flow, is not kept.
function lastReport(f) {
  if (!f.last_report) return html`<span class="quiet">none since it began</span>`;
  return html`${f.last_events.join(', ')} <span class="quiet">${ago(f.last_report, f.now ? Date.parse(f.now) : Date.now())}</span>`;
}

const columns = [
  { name: 'flow', value: (f) => f.id, cell: (f) => html`<${Flow} id=${f.id} />` },
  num('packets', 'packets'),
  num('latency, reference', 'latency_ns', ns),
  num('slowest hop, reference', 'max_hop_latency_ns', ns),
  { name: 'path', cell: (f) => html`<${Nodes} nodes=${f.nodes} />` },
  num('lost', 'lost', bad),
  num('marked (ECN)', 'ecn_marked'),
  { name: 'last report', value: (f) => f.last_report, cell: lastReport },
];

// parse reads "name=value name=value" as parameters of the API; a number alone is a port, a word with
// a dot or colon an address or prefix, at either end; the API refuses any other word.
function parse(text) {
  const all = {};
  for (const w of text.trim().split(/\s+/).filter((w) => w)) {
    const at = w.indexOf('=');
    const [name, value] = at >= 0 ? [w.slice(0, at), w.slice(at + 1)] : /^\d+$/.test(w) ? ['port', w] : /[.:]/.test(w) ? ['address', w] : [w, '?'];
    all[name] = name in all ? `${all[name]} ${value}` : value;
  }
  return all;
}

function askedOf(id) {
  const { source, destination } = matchOf(id);
  return source ? { [`flow=${source},${destination}`]: 'between these hosts', [`host=${source}`]: source, [`host=${destination}`]: destination } : {};
}

function Why({ id }) {
  const poll = usePoll('flows/' + encodeURIComponent(id));
  const f = poll.data;
  return html`<section class="why" aria-label="why" id="why">
    <a class="close" href="#flows" aria-label="close">×</a>
    <h2><code>${id}</code></h2>
    <${State} poll=${poll} rows=${1} empty="" />
    <${Was} of=${askedOf(id)} />
    ${f && html`<dl>
      <dt>watch</dt><dd>${f.watch == null ? 'none: INT is removed, nothing is reported' : f.watch} <span class="quiet">worker ${f.worker}</span></dd>
      <dt>seen</dt><dd>${count(f.packets)} packets, ${count(f.bytes)} bytes; last ${ago(f.last_seen, Date.parse(f.now))}</dd>
      <dt>reported</dt><dd>${lastReport(f)}</dd>
      <dt>withheld</dt><dd>${count(f.suppressed)} by a rate, an interval or a quota; ${count(f.shed)} shed by budgets</dd>
      ${f.sprayed && html`<dt>sprayed</dt><dd>over ${f.sprayed.more ? 'more than ' : ''}${f.sprayed.paths} paths: its packets take one, then another</dd>`}
      ${f.ecn_marked > 0 && html`<dt>marked</dt><dd>${count(f.ecn_marked)} packets came with the mark of a queue (ECN: CE), ${percent(f.ecn_marked / Math.max(f.packets, f.ecn_marked))}</dd>`}
      <dt>lost, dropped</dt><dd>${count(f.lost)} lost on the way, ${count(f.drops)} dropped here</dd></dl>
      <${Latencies} f=${f} /><${Remembered} f=${f} />`}</section>`;
}

function Latencies({ f }) {
  const rows = [...(f.hops || []).map((h) => ({ ...h, name: `node ${h.node}` })), ...(f.end_to_end ? [{ ...f.end_to_end, name: 'whole path', on_path: true }] : [])];
  const is = (r) => level(r.reference_ns, { latency_ns: r.usual_ns });
  return rows.length > 0 && html`<${Table} caption="Latency: the reference, which was reported last or came first; what is usual there; what the next report needs" id=${(r) => rows.indexOf(r)} rows=${rows} columns=${[
    { name: 'where', cell: (r) => (r.node == null ? r.name : html`<a href=${'#queues/?node=' + r.node}>${r.name}</a>${r.on_path ? '' : html` <span class="quiet">before</span>`}`) },
    { name: 'reference', number: true, cell: (r) => html`<span class=${'reference ' + is(r)}>${ns(r.reference_ns)}</span>` },
    num('usual', 'usual_ns', ns),
    { name: 'times', number: true, cell: (r) => html`<${Mark} is=${is(r)} /> ${times(ratio(r.reference_ns, r.usual_ns))}` },
    num('next below', 'below_ns', ns),
    { name: 'or above', number: true, cell: (r) => html`${ns(r.above_ns)} <span class="quiet">${r.deviating}/${r.need} of ${r.of}</span>` },
  ]} />`;
}

const Remembered = ({ f }) => (f.paths || []).length > 0 && html`<${Table} caption="Paths that the flow remembers" id=${(p) => p.id} rows=${f.paths} columns=${[
  { name: 'path', cell: (p) => html`<${Nodes} nodes=${p.nodes && p.nodes.map((n) => n.node)} />${p.current ? ' (current)' : ''}` },
  { name: 'id', cell: (p) => html`<a href=${'#paths/' + p.id}><code>${p.id}</code></a>` },
  seen,
]} />`;
