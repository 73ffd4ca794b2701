// The path map, with ghosts of what is gone; below it the paths, and how they changed.
import { html, useState } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Nodes, Flow, Only, asked, names, nodeName, portName, num, seen } from './parts.js';
import { Past } from './history.js';
import { layout } from './layout.js';
import { useWidth } from './chart.js';
import { kind, part } from './now.js';
import { ns, count, ago, times, ratio, level, hms } from './format.js';

// Whoever sends packets makes up paths: so many are drawn, and so many stand in the table, those with the most flows.
const [drawn, listed] = [100, 300];

const lately = 600000; // for so long a change is shown, and as long as a node is gone that it left

export function Paths({ rest, problems }) {
  const part = rest.startsWith('?');
  const paths = usePoll('paths', { limit: 1000, ...asked(rest) });
  const changes = usePoll('changes', { limit: 200 }, 3000);
  const segments = usePoll('links', { limit: 1000 }, 5000);
  const queues = usePoll('queues', { limit: 1000, sort: 'latency' }, 5000);
  const all = items(paths);
  const moved = items(changes).filter((c) => Date.now() - Date.parse(c.time) < lately || wayIds(c.from).some((id) => names.gone[id]));
  const fresh = new Set(moved.map((c) => c.to.id));
  const groups = byNodes(all).sort((a, b) => b.flows - a.flows || b.packets - a.packets);
  const picked = groups.find((g) => g.paths.some((p) => p.id === rest));
  const rows = groups.filter((g, i) => i < listed || g === picked);
  const most = groups.filter((g, i) => i < drawn || g === picked).flatMap((g) => g.paths);
  return html`<${Only} view="paths" rest=${rest} /><${State} poll=${paths} rows=${rows.length} empty="No path is known: paths need INT with node ids (instruction bit 0) in flows that a watch matches." />
    ${rows.length > 0 && html`<${Map} paths=${most} more=${groups.length - drawn} moved=${part ? [] : moved.slice(0, drawn)} segments=${items(segments)} queues=${items(queues)} problems=${items(problems).filter((p) => !p.until)} picked=${picked} />
    <${Table} caption="Paths, by the nodes that they cross" id=${(g) => g.id} rows=${rows} picked=${picked && picked.id} pick=${(g) => 'paths/' + g.id} sort=${{ column: 3, down: true }} columns=${[
      { name: 'path', value: (g) => g.name, cell: (g) => html`<${Nodes} nodes=${g.nodes} /> ${g.paths.some((p) => fresh.has(p.id)) && html`<span class="pill changed">changed</span>`} ${g.congested && html`<span class="pill bad">congested</span>`}` },
      num('flows', 'flows'),
      num('packets', 'packets'),
      num('latency, reference', 'max_latency_ns', ns),
      { name: 'times usual', number: true, value: (g) => ratio(g.max_latency_ns, g.usual), cell: (g) => times(ratio(g.max_latency_ns, g.usual)) },
      seen,
      { name: 'by interfaces', number: true, value: (g) => g.paths.length, cell: (g) => html`<a href=${'#paths/' + g.id}>${g.paths.length}</a>` },
    ]} />${groups.length > listed && html`<p class="quiet">And ${count(groups.length - listed)} more ways with fewer flows: intsink paths.</p>`}`}
    ${picked && html`<${Past} what="paths" of=${{ id: picked.paths.some((p) => p.id === rest) ? rest : picked.id }} title="Latency of all hops of this path" /><${Ports} group=${picked} picked=${rest} fresh=${fresh} />`}
    ${moved.length > 0 && html`<${Changes} moved=${moved} />`}`;
}

// byNodes puts paths that cross the same nodes together: they differ in interfaces. An undescribed one stays alone.
function byNodes(paths) {
  const groups = {};
  for (const p of paths) {
    const name = p.nodes ? nodeIds(p).join(' ') : p.id;
    const g = groups[name] || (groups[name] = { id: p.id, name, nodes: p.nodes && nodeIds(p), paths: [], flows: 0, packets: 0, max_latency_ns: null, usual: null, congested: false, last_seen: p.last_seen });
    g.paths.push(p);
    g.flows += p.flows;
    g.packets += p.packets;
    g.congested = g.congested || p.congested;
    if (p.max_latency_ns != null && p.max_latency_ns >= (g.max_latency_ns || 0)) [g.max_latency_ns, g.usual] = [p.max_latency_ns, p.usual.latency_ns];
    if (p.last_seen > g.last_seen) g.last_seen = p.last_seen;
    if (p.id < g.id) g.id = p.id; // the same, whatever order they come in
  }
  return Object.values(groups);
}

const Ports = ({ group, picked, fresh }) => html`<${Table} caption="The same, by interfaces: node, ingress to egress" id=${(p) => p.id} rows=${group.paths} picked=${picked} columns=${[
  { name: 'interfaces', value: (p) => p.id, cell: (p) => html`<code>${(p.nodes || []).map((n) => `${nodeName(n.node)} ${portName(n.node, n.ingress)}→${portName(n.node, n.egress)}`).join(', ') || 'not described'}</code> ${fresh.has(p.id) && html`<span class="pill changed">changed</span>`}` },
  { name: 'flows', number: true, value: (p) => p.flows, cell: (p) => html`<a href=${'#flows/?path=' + p.id}>${count(p.flows)}</a>` },
  num('latency, reference', 'max_latency_ns', ns),
  { name: 'usual', number: true, value: (p) => p.usual.latency_ns, cell: (p) => ns(p.usual.latency_ns) },
  seen,
  { name: 'id', value: (p) => p.id, cell: (p) => html`<code>${p.id}</code>` },
]} />`;

// Changes are the changes of late, those of the same way together.
function Changes({ moved }) {
  const groups = {};
  for (const c of moved) {
    const [from, to] = [wayIds(c.from), wayIds(c.to)];
    const g = groups[from + '>' + to] || (groups[from + '>' + to] = { from, to, time: c.time, count: 0, flow: c.flows[0] });
    g.count += c.count;
    if (c.time > g.time) g.time = c.time;
  }
  return html`<${Table} caption="Flows that took another way" id=${(g) => g.from + '>' + g.to} rows=${Object.values(groups)} columns=${[
    { name: 'from', value: (g) => g.from.join(' '), cell: (g) => html`<${Nodes} nodes=${g.from} />` },
    { name: 'to', value: (g) => g.to.join(' '), cell: (g) => html`<${Nodes} nodes=${g.to} />` },
    num('flows', 'count'),
    { name: 'last', value: (g) => g.time, cell: (g) => html`<time>${hms(g.time)}</time> <span class="quiet">${ago(g.time)}</span>` },
    { name: 'one of them', cell: (g) => g.flow && html`<${Flow} id=${g.flow} />` },
  ]} />`;
}

const nodeIds = (p) => (p.nodes || []).map((n) => n.node);
const wayIds = (w) => w.nodes.map((n) => n.node);
const worst = (levels) => ['high', 'raised', 'usual'].find((l) => levels.includes(l)) || 'unknown';

const levelOf = (p) => (p.severity === 'error' ? 'high' : 'raised');

// stateOf is how a node is: the worst of its queues, and of the problems that name it; unknown where neither tells.
function stateOf(id, queues, problems) {
  const own = queues.filter((q) => q.node === id && q.latency_ns != null);
  const slowest = own.reduce((a, q) => (a && a.latency_ns >= q.latency_ns ? a : q), null);
  const levels = own.map((q) => (q.congested ? 'high' : level(q.latency_ns, q.usual)));
  const wrong = problems.filter((p) => part(p, 'node') === String(id));
  levels.push(...wrong.map(levelOf));
  return { level: worst(levels), latency: slowest && slowest.latency_ns, times: slowest && ratio(slowest.latency_ns, slowest.usual.latency_ns), wrong };
}

function Map({ paths, more, moved, segments, queues, problems, picked }) {
  const [hover, setHover] = useState(null);
  const [box, room] = useWidth();
  const shown = paths.filter((p) => p.nodes).map((p) => ({ id: p.id, flows: p.flows, nodes: nodeIds(p) }));
  const was = moved.map((c) => ({ id: c.from.id, flows: 0, nodes: wayIds(c.from) })).filter((w) => w.nodes.length > 1);
  const m = layout([...shown, ...was], room);
  const old = new Set(moved.flatMap((c) => pairs(wayIds(c.from))));
  const fresh = new Set(moved.flatMap((c) => pairs(wayIds(c.to))).filter((k) => !old.has(k)));
  const of = (e) => segments.filter((l) => l.from_node === e.from && l.to_node === e.to).sort((a, b) => b.latency_ns - a.latency_ns)[0];
  const on = (e) => (hover ? e.paths.includes(hover) : picked && e.paths.some((id) => picked.paths.some((p) => p.id === id)));
  // wrong are the problems of a way that an edge is on, or is.
  const wrong = (e) => problems.filter((p) => part(p, 'from') && e.paths.some((id) => {
    const way = (shown.find((s) => s.id === id)?.nodes || []).map(String), [a, i, b] = [part(p, 'from'), String(e.from), part(p, 'to')].map((n) => way.indexOf(n));
    return a >= 0 && a <= i && i < b;
  }));
  return html`<figure class="map" ref=${box}><div class="scroll"><svg width=${m.width} height=${m.height} role="group" aria-label="map of paths">
    ${m.edges.sort((a, b) => wrong(a).length - wrong(b).length).map((e) => html`<${Edge} key=${e.key} e=${e} segment=${of(e)} wrong=${wrong(e)} fresh=${fresh.has(e.key)} on=${on(e)} hover=${setHover} />`)}
    ${m.nodes.map((n) => html`<${Node} key=${n.id} n=${n} gone=${names.gone[n.id]} is=${stateOf(n.id, queues, problems)} />`)}</svg></div>
    <figcaption><ul class="legend" aria-label="legend"><li><span class="key usual"></span>as usual, up to 2 ×</li><li><span class="key raised"></span>▲ more than 2 ×</li><li><span class="key high"></span>● more than 8 × and slow enough to be told, or a problem</li>
      <li><span class="key unknown"></span>usual not known yet</li><li><span class="key gone"></span>◌ gone</li><li>╌ new</li><li>··· no flow any more</li><li>wide: many flows</li></ul>
      A node leads to its queues, an edge to its segments.${more > 0 ? ` Drawn are the ${drawn} ways with the most flows; ${count(more)} more are not.` : ''}</figcaption></figure>`;
}

const pairs = (way) => way.slice(1).map((n, i) => `${way[i]} ${n}`);

function Edge({ e, segment, wrong, fresh, on, hover }) {
  const is = !e.flows ? 'gone' : wrong.length ? worst(wrong.map(levelOf)) : segment ? level(segment.latency_ns, segment.usual) : 'unknown';
  const says = `${nodeName(e.from)} to ${nodeName(e.to)}: ${e.flows ? `${e.flows} flows` : 'no flow any more'}${segment ? `, ${ns(segment.latency_ns)}, usually ${ns(segment.usual.latency_ns)}` : ''}${wrong.map((p) => ', ' + kind(p))}`;
  return html`<a href=${`#segments/?link=${e.from}-${e.to}`} aria-label=${says} class=${'edge ' + is + (on ? ' on' : '') + (fresh ? ' fresh' : '')} data-edge=${e.key}
    onMouseEnter=${() => hover(e.paths[0])} onMouseLeave=${() => hover(null)}>
    <path d=${`M${e.x1} ${e.y1} C${(e.x1 + e.x2) / 2} ${e.y1} ${(e.x1 + e.x2) / 2} ${e.y2} ${e.x2} ${e.y2}`} stroke-width=${e.width} />${wrong[0] && html`<text x=${(e.x1 + e.x2) / 2} y=${(e.y1 + e.y2) / 2 - 8}>${is === 'high' ? '●' : '▲'} ${kind(wrong[0])}</text>`}<title>${says}</title></a>`;
}

function Node({ n, gone, is }) {
  const state = gone ? 'gone' : is.level;
  const below = gone ? 'gone ' + ago(gone.last_seen) : is.latency == null ? '' : ns(is.latency) + (is.times > 2 ? `, ${times(is.times)}` : '');
  const says = `node ${nodeName(n.id)}${below ? ': ' + below : ''}${is.wrong.map((p) => ', ' + kind(p)).join('')}`;
  return html`<a href=${'#queues/?node=' + n.id} aria-label=${says} class=${'node ' + state + (is.wrong[0] ? ' wrong' : '')} data-node=${n.id}>
    <circle cx=${n.x} cy=${n.y} r="15" /><text x=${n.x} y=${n.y - 22}>${nodeName(n.id)}</text>
    <text class="inside" x=${n.x} y=${n.y + 5}>${{ high: '●', raised: '▲', gone: '◌' }[state] || ''}</text>
    ${below && html`<text class="small" x=${n.x} y=${n.y + 31}>${below}</text>`}<title>${says}</title></a>`;
}
