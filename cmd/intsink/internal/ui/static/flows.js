// Flows, by packets, latency or losses, and why one of them is reported or not.
import { html, useState, useEffect } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Nodes, Flow, Mark, Was, matchOf, bad } from './parts.js';
import { ns, count, ago, times, ratio, level } from './format.js';

const sorts = [['packets', 'most packets'], ['bytes', 'most bytes'], ['last_seen', 'seen last'], ['latency', 'highest latency, whole path'], ['hop_latency', 'highest latency, one hop']];

export function Flows({ rest, problems }) {
  const [sort, setSort] = useState('packets');
  const [filter, setFilter] = useState('');
  useEffect(() => { // an address such as #flows/?node=102 is a filter
    if (rest.startsWith('?')) setFilter(rest.slice(1).replaceAll('&', ' '));
  }, [rest]);
  const parameters = { sort, limit: 50, ...parse(filter) };
  const poll = usePoll('flows', parameters);
  const picked = rest && !rest.startsWith('?') ? rest : null;
  const rows = items(poll);
  const here = items(problems).some((p) => p.kind === 'packets_missed') ? '; the sink itself missed packets lately, which count as lost' : '';
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}>
      <label>order <select id="flow-sort" value=${sort} onChange=${(e) => setSort(e.target.value)}>${sorts.map(([v, t]) => html`<option value=${v}>${t}</option>`)}</select></label>
      <label>filter <input id="flow-filter" size="36" placeholder="10.0.0.18 or destination=10.0.0.0/8 node=112" value=${filter} onChange=${(e) => setFilter(e.target.value)} /></label>
      ${poll.data && html`<span class="quiet">${count(poll.data.totals.flows)} of ${count(poll.data.totals.flows_in_table)} flows</span>`}
    </form>
    <${State} poll=${poll} rows=${rows.length} empty="No flow with INT is known. Links shows whether packets arrive and whether INT is seen in them; flows are watched where a watch block matches." />
    ${picked && html`<${Why} id=${picked} />`}
    ${rows.length > 0 && html`<${Table} caption=${"Flows" + here} id=${(f) => f.id} rows=${rows} picked=${picked} pick=${(f) => 'flows/' + f.id} columns=${columns} />`}`;
}

// lastReport is what a flow was last reported for. That it began, new_flow, is not kept.
function lastReport(f) {
  if (!f.last_report) return html`<span class="quiet">none since it began</span>`;
  return html`${f.last_events.join(', ')} <span class="quiet">${ago(f.last_report, f.now ? Date.parse(f.now) : Date.now())}</span>`;
}

const columns = [
  { name: 'flow', value: (f) => f.id, cell: (f) => html`<${Flow} id=${f.id} />` },
  { name: 'packets', number: true, value: (f) => f.packets, cell: (f) => count(f.packets) },
  { name: 'latency at last report', number: true, value: (f) => f.latency_ns, cell: (f) => ns(f.latency_ns) },
  { name: 'slowest hop then', number: true, value: (f) => f.max_hop_latency_ns, cell: (f) => ns(f.max_hop_latency_ns) },
  { name: 'path', cell: (f) => html`<${Nodes} nodes=${f.nodes} />` },
  { name: 'lost', number: true, value: (f) => f.lost, cell: (f) => bad(f.lost) },
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

// askedOf are the questions about the network of a flow: between its hosts, and of each of them.
function askedOf(id) {
  const { source, destination } = matchOf(id);
  return source ? { [`flow=${source},${destination}`]: 'between these hosts', [`host=${source}`]: source, [`host=${destination}`]: destination } : {};
}

// Why shows what one flow is compared with, and what was reported of it.
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
      <dt>lost, dropped</dt><dd>${count(f.lost)} lost on the way, ${count(f.drops)} dropped here</dd></dl>
      <${Latencies} f=${f} /><${Remembered} f=${f} />`}</section>`;
}

function Latencies({ f }) {
  const rows = [...(f.hops || []).map((h) => ({ ...h, name: `node ${h.node}` })), ...(f.end_to_end ? [{ ...f.end_to_end, name: 'whole path', on_path: true }] : [])];
  if (!rows.length) return null;
  const high = Math.max(...rows.filter((r) => r.name !== 'whole path').map((r) => r.reference_ns || 0));
  const usual = (r) => ({ latency_ns: r.usual_ns, latency_p99_ns: 0 });
  return html`<table><caption>Latency: what was reported, what is usual there, and what the next report needs</caption>
    <thead><tr><th scope="col">where</th><th scope="col" class="number">reported</th><th scope="col" class="number">usual</th><th scope="col" class="number">times</th><th scope="col" class="number">next below</th><th scope="col" class="number">or above</th></tr></thead>
    <tbody>${rows.map((r) => html`<tr class=${r.on_path ? '' : 'quiet'}><td data-name="where">${r.name === 'whole path' ? r.name : html`<a href=${'#queues/?node=' + r.node}>${r.name}</a>`}</td>
      <td data-name="reported" class=${'number ' + (r.name !== 'whole path' && r.reference_ns === high && high > 0 ? 'slowest' : '')}>${ns(r.reference_ns)}</td>
      <td data-name="usual" class="number">${ns(r.usual_ns)}</td><td data-name="times" class="number"><${Mark} is=${level(r.reference_ns, usual(r))} /> ${times(ratio(r.reference_ns, r.usual_ns))}</td>
      <td data-name="next below" class="number">${ns(r.below_ns)}</td><td data-name="or above" class="number">${ns(r.above_ns)} <span class="quiet">${r.deviating}/${r.need} of ${r.of}</span></td></tr>`)}</tbody></table>`;
}

function Remembered({ f }) {
  if (!(f.paths || []).length) return null;
  return html`<table><caption>Paths that the flow remembers</caption><thead><tr><th scope="col">path</th><th scope="col">id</th><th scope="col">seen</th></tr></thead>
    <tbody>${f.paths.map((p) => html`<tr class=${p.current ? '' : 'quiet'}>
      <td><${Nodes} nodes=${p.nodes && p.nodes.map((n) => n.node)} />${p.current ? ' (current)' : ''}</td>
      <td><a href=${'#paths/' + p.id}><code>${p.id}</code></a></td><td>${ago(p.last_seen, Date.parse(f.now))}</td></tr>`)}</tbody></table>`;
}
