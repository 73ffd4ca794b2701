// The path map: nodes from left to right in the order in which packets cross them,
// edges as wide as flows are many and coloured by link latency, nodes coloured by
// their own latency; beside it the list of paths, new ones marked.
import { html, useState } from './vendor/htm-preact-3.1.1.js';
import { usePoll } from './api.js';
import { State, Table, Nodes, Only, asked } from './parts.js';
import { layout } from './layout.js';
import { ns, count, ago, heat } from './format.js';

export function Paths({ rest, events }) {
  const paths = usePoll('paths', { limit: 1000, ...asked(rest) });
  const links = usePoll('links', { limit: 1000 }, 5000);
  const queues = usePoll('queues', { limit: 1000, sort: 'latency' }, 5000);
  const fresh = freshPaths(rest.startsWith('?') ? null : paths.data, events);
  const all = paths.data ? paths.data.items : [];
  const rows = byNodes(all);
  const picked = rows.find((g) => g.paths.some((p) => p.id === rest));
  return html`<${Only} view="paths" rest=${rest} /><${State} poll=${paths} rows=${rows.length} empty="No path is known: paths need INT with node ids (instruction bit 0) in flows that a watch matches." />
    ${rows.length > 0 && html`<${Map} paths=${all} links=${links.data ? links.data.items : []} queues=${queues.data ? queues.data.items : []} picked=${rest} fresh=${fresh} />
    <${Table} caption="Paths, by the nodes that they cross" id=${(g) => g.id} rows=${rows} picked=${picked && picked.id} pick=${(g) => { location.hash = 'paths/' + g.id; }} sort=${{ column: 3, down: true }} columns=${[
      { name: 'path', value: (g) => g.name, cell: (g) => html`<${Nodes} nodes=${g.nodes} /> ${g.paths.some((p) => fresh.has(p.id)) && html`<span class="pill changed">changed</span>`} ${g.congested && html`<span class="pill bad">congested</span>`}` },
      { name: 'flows', number: true, value: (g) => g.flows, cell: (g) => count(g.flows) },
      { name: 'packets', number: true, value: (g) => g.packets, cell: (g) => count(g.packets) },
      { name: 'highest latency', number: true, value: (g) => g.max_latency_ns, cell: (g) => ns(g.max_latency_ns) },
      { name: 'paths', number: true, value: (g) => g.paths.length, cell: (g) => g.paths.length },
      { name: 'seen', value: (g) => g.last_seen, cell: (g) => ago(g.last_seen) },
    ]} />`}
    ${picked && html`<${Ports} group=${picked} picked=${rest} fresh=${fresh} />`}`;
}

// byNodes puts paths that cross the same nodes together: they differ in interfaces. One that is not described stays alone.
function byNodes(paths) {
  const groups = {};
  for (const p of paths) {
    const name = p.nodes ? nodeIds(p).join(' ') : p.id;
    const g = groups[name] || (groups[name] = { id: p.id, name, nodes: p.nodes && nodeIds(p), paths: [], flows: 0, packets: 0, max_latency_ns: null, congested: false, last_seen: p.last_seen });
    g.paths.push(p);
    g.flows += p.flows;
    g.packets += p.packets;
    g.congested = g.congested || p.congested;
    if (p.max_latency_ns != null) g.max_latency_ns = Math.max(g.max_latency_ns || 0, p.max_latency_ns);
    if (p.last_seen > g.last_seen) g.last_seen = p.last_seen;
    if (p.id < g.id) g.id = p.id; // the same, whatever order they come in
  }
  return Object.values(groups);
}

// Ports shows the paths of a group: by which interfaces they go.
const Ports = ({ group, picked, fresh }) => html`<${Table} caption="The same, by interfaces: node, ingress to egress" id=${(p) => p.id} rows=${group.paths} picked=${picked} columns=${[
  { name: 'interfaces', value: (p) => p.id, cell: (p) => html`<code>${(p.nodes || []).map((n) => `${n.node} ${n.ingress ?? '-'}→${n.egress ?? '-'}`).join(', ') || 'not described'}</code> ${fresh.has(p.id) && html`<span class="pill changed">changed</span>`}` },
  { name: 'flows', number: true, value: (p) => p.flows, cell: (p) => html`<a href=${'#flows/?path=' + p.id}>${count(p.flows)}</a>` },
  { name: 'packets', number: true, value: (p) => p.packets, cell: (p) => count(p.packets) },
  { name: 'highest latency', number: true, value: (p) => p.max_latency_ns, cell: (p) => ns(p.max_latency_ns) },
  { name: 'seen', value: (p) => p.last_seen, cell: (p) => ago(p.last_seen) },
  { name: 'id', value: (p) => p.id, cell: (p) => html`<code>${p.id}</code>` },
]} />`;

const nodeIds = (p) => (p.nodes || []).map((n) => n.node);

// What is known of paths since the page was opened: it stays when the view changes.
let known = null; // ids of paths that were seen
const changed = {}; // when a path came up, or a path_change led to it, by id

// freshPaths returns the ids of paths that came up, or that a path_change led to, in the
// last ten minutes.
function freshPaths(data, events) {
  const now = Date.now();
  if (data) {
    const ids = data.items.map((p) => p.id);
    if (known) ids.filter((id) => !known.has(id)).forEach((id) => { changed[id] = now; });
    known = new Set([...(known || []), ...ids]);
  }
  for (const e of events.items) if (e.path && e.events.includes('path_change')) changed[e.path] = Math.max(changed[e.path] || 0, Date.parse(e.time));
  return new Set(Object.keys(changed).filter((id) => now - changed[id] < 600000));
}

function Map({ paths, links, queues, picked, fresh }) {
  const [hover, setHover] = useState(null);
  const shown = paths.filter((p) => p.nodes);
  const m = layout(shown.map((p) => ({ id: p.id, flows: p.flows, nodes: nodeIds(p) })));
  const latency = (a, b) => Math.max(-1, ...links.filter((l) => l.from_node === a && l.to_node === b).map((l) => l.latency_ns));
  const nodeLatency = (n) => Math.max(-1, ...queues.filter((q) => q.node === n && q.latency_ns != null).map((q) => q.latency_ns));
  const congested = new Set(queues.filter((q) => q.congested).map((q) => q.node));
  const edgeValues = m.edges.map((e) => latency(e.from, e.to)).filter((v) => v >= 0);
  const nodeValues = m.nodes.map((n) => nodeLatency(n.id)).filter((v) => v >= 0);
  const low = (v) => Math.min(...v), high = (v) => Math.max(...v);
  const colour = (v, all) => (v < 0 || !all.length ? 'heat-none' : heat(v, low(all), high(all)));
  const on = (e) => { const p = hover || picked; return p && e.paths.includes(p); };
  const least = innerWidth < 600 ? m.width : Math.max(m.width, 900); // a few nodes do not fill a wide screen
  return html`<figure class="map"><svg viewBox=${`${(m.width - least) / 2} 0 ${least} ${m.height}`} width=${0.75 * m.width} role="img" aria-label="map of paths">
    ${m.edges.map((e) => html`<g class=${'edge ' + colour(latency(e.from, e.to), edgeValues) + (on(e) ? ' on' : '') + (e.paths.some((p) => fresh.has(p)) ? ' fresh' : '')}
      onMouseEnter=${() => setHover(e.paths[0])} onMouseLeave=${() => setHover(null)} onClick=${() => { location.hash = `hops/?link=${e.from}-${e.to}`; }}>
      <path d=${`M${e.x1} ${e.y1} C${(e.x1 + e.x2) / 2} ${e.y1} ${(e.x1 + e.x2) / 2} ${e.y2} ${e.x2} ${e.y2}`} stroke-width=${e.width} />
      <title>${e.from} to ${e.to}: ${e.flows} flows${latency(e.from, e.to) >= 0 ? ', link ' + ns(latency(e.from, e.to)) : ''}</title></g>`)}
    ${m.nodes.map((n) => html`<g class=${'node ' + colour(nodeLatency(n.id), nodeValues) + (congested.has(n.id) ? ' congested' : '')} data-node=${n.id} role="link" tabindex="0"
      onClick=${() => { location.hash = 'queues/?node=' + n.id; }} onKeyDown=${(e) => { if (e.key === 'Enter') location.hash = 'queues/?node=' + n.id; }}>
      <circle cx=${n.x} cy=${n.y} r="15" /><text x=${n.x} y=${n.y - 21}>${n.id}</text>
      ${nodeLatency(n.id) >= 0 && html`<text class="small" x=${n.x} y=${n.y + 29}>${ns(nodeLatency(n.id))}</text>`}
      <title>node ${n.id}${nodeLatency(n.id) >= 0 ? ': ' + ns(nodeLatency(n.id)) : ''}${congested.has(n.id) ? ', congested' : ''}</title></g>`)}</svg>
    <figcaption>Packets go from left to right. Colour: latency, blue low, red high, grey unknown${edgeValues.length ? '' : ' (links need timestamps in INT and link_latency in a watch)'}. Width: flows. Dashed: changed in the last ten minutes. Ring: congested. A click on a node leads to its queues, on an edge to its links.</figcaption></figure>`;
}
