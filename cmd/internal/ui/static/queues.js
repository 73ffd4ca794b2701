// Queues: their last ten minutes, with episodes of congestion; one opens to who filled the queue, and who waited.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Flow, NodeLink, Mark, Only, asked, slowItself, nodeName, names, Was, portName, num, seen, latencies, Gone } from './parts.js';
import { Bars } from './chart.js';
import { Past, useHistory } from './history.js';
import { Here, part, queueOf as placeOf } from './now.js';
import { ns, count, ago, lasts, percent, times, level, hms } from './format.js';

const span = 600000, lines = 40;

export function Queues({ rest, nodes, problems }) {
  const [id, wanted] = rest.split('/');
  const of = asked(rest);
  const poll = usePoll('queues', { limit: 500, sort: 'latency', ...of });
  const found = usePoll('episodes', { limit: 256, node: of.node });
  const [node, egress, queue] = id.split(':'), placed = queue && { node, egress: egress === '-' ? '' : egress, queue };
  const own = usePoll(placed ? 'queues' : '', { limit: 10, ...placed });
  const rows = [...items(poll), ...(placed ? items(own).filter((q) => q.id === id && !items(poll).some((r) => r.id === id)) : [])];
  const episodes = items(found);
  const past = useHistory('queues', { limit: lines, node: of.node });
  const mine = episodes.filter((e) => queueOf(e) === id);
  const picked = mine.find((e) => String(e.id) === wanted) || mine[0];
  const ids = [...new Set([...rows.map((q) => q.id), ...episodes.filter(recent).map(queueOf), ...(past ? past.items : []).map(queueOf)])];
  const leads = (q) => q === id || items(problems).some((p) => !p.until && placeOf(p) === q); // what was asked for, and what is wrong
  return html`<${Only} view="queues" rest=${rest} />
    <${Here} problems=${problems} is=${(p) => (placed ? (placeOf(p) ? placeOf(p) === id : part(p, 'node') === node) : of.node ? part(p, 'node') === of.node : !!placeOf(p))} />
    <${State} poll=${poll} rows=${ids.length} empty=${of.node && nodes.data && !items(nodes).some((n) => n.node === +of.node) ? `Node ${of.node} is not known: no packet came through it in the last day.` : 'No queue to look at: none was out of the ordinary lately. Where packets carry no queue and no latency (instruction bits 2 and 3), none will be.'} />
    ${ids.length > 0 && html`<${Timelines} ids=${[...ids.filter(leads).sort(), ...ids.filter((q) => !leads(q)).slice(0, lines).sort()].slice(0, lines)} more=${ids.length - lines} rows=${rows} past=${past} episodes=${episodes} picked=${id} />`}
    ${of.node && html`<${Was} of=${{ [`node=${of.node}`]: `at node ${nodeName(of.node)}` }} />`}
    ${placed && html`<${Past} what="queues" of=${placed} title=${'Latency of queue ' + id} />`}
    ${picked && html`<${Episode} e=${picked} q=${rows.find((q) => q.id === id)} all=${mine} />`}
    ${rows.length > 0 && html`<${Table} caption="Queues" id=${(q) => q.id} rows=${rows} picked=${id} pick=${(q) => 'queues/' + q.id} first=${(q) => leads(q.id)} sort=${{ column: 1, down: true }} columns=${columns} />`}`;
}

const queueOf = (e) => `${e.node}:${e.egress ?? '-'}:${e.queue}`;
const recent = (e) => !e.end || Date.now() - Date.parse(e.end) < span;

const columns = [
  { name: 'node : egress : queue', value: (q) => q.id, cell: (q) => html`<b><${NodeLink} node=${q.node} />${':' + portName(q.node, q.egress) + ':' + q.queue}</b>` },
  ...latencies,
  num('occupancy', 'occupancy'),
  { name: 'state', value: (q) => q.congested, cell: (q) => (q.congested ? html`<span class="pill bad">congested for ${lasts(q.since)}</span>` : names.gone[q.node] ? html`<${Gone} nodes=${[q.node]} />` : level(q.latency_ns, q.usual) === 'high' ? html`<span class="pill bad">slow</span>` : 'calm') },
  { name: 'episodes', number: true, value: (q) => q.episodes, cell: (q) => html`<a href=${'#queues/' + q.id}>${count(q.episodes)}</a>` },
  num('marked (ECN)', 'ecn_marked'),
  seen,
];

// Timelines has a row for each queue: its level in each ten seconds, and above it a bar for each episode.
function Timelines({ ids, more, rows, past, episodes, picked }) {
  const now = Date.now();
  const x = (t) => Math.max(0, Math.min(600, 600 * (1 - (now - t) / span)));
  const bar = (e) => ({ from: x(Date.parse(e.begin)), to: Math.max(x(Date.parse(e.begin)) + 3, x(e.end ? Date.parse(e.end) : now)) });
  const cells = (id) => {
    const i = past && past.items.find((p) => queueOf(p) === id), l = i && i.latency_ns;
    return l && l.median.map((v, k) => v != null && html`<rect class=${'cell ' + level(v, i.usual)} x=${x(1000 * past.times[k])} y="8" width="9.5" height="14"><title>${hms(1000 * past.times[k])}: ${ns(v)}, up to ${ns(l.max[k])}</title></rect>`);
  };
  const row = (id) => {
    const q = rows.find((r) => r.id === id);
    return html`<a key=${id} class=${'label' + (picked === id ? ' picked' : '')} href=${'#queues/' + id}><${Mark} is=${q && q.congested ? 'high' : ''} /> ${id}</a>
      <svg viewBox="0 0 600 22" preserveAspectRatio="none" role="group" aria-label=${`queue ${id}, the last ten minutes`}>
        ${cells(id)}
        ${episodes.filter((e) => recent(e) && queueOf(e) === id).slice(0, 40).map((e) => html`<a href=${`#queues/${id}/${e.id}`} aria-label=${says(e)}>
          <rect class=${'episode' + (e.end ? ' over' : '')} x=${bar(e).from} y="0" width=${bar(e).to - bar(e).from} height="22"><title>${says(e)}</title></rect></a>`)}</svg>`;
  };
  return html`<figure class="timelines"><div class="grid"><span class="quiet">node:egress:queue</span><span></span>${ids.map(row)}</div>
    <div class="axis"><span>10 minutes ago</span><span>5</span><span>now</span></div>
    <figcaption><ul class="legend" aria-label="legend"><li><span class="key high"></span>● congested, or more than 8 × its usual latency</li><li><span class="key raised"></span>▲ more than 2 ×</li><li><span class="key usual"></span>as usual</li></ul>
      Each cell is the median of ten seconds. A bar is an episode of congestion, grey when it is over: open it for who filled the queue.${more > 0 ? ` ${more} more queues are in the table.` : ''}</figcaption></figure>`;
}

const says = (e) => `episode at ${hms(e.begin)}, ${e.end ? 'lasted ' + lasts(e.begin, Date.parse(e.end)) : 'still open'}, up to ${ns(e.peak_latency_ns)}`;

function Episode({ e, q, all }) {
  const at = all.findIndex((x) => x.id === e.id);
  const to = (x, text) => x && html` · <a href=${`#queues/${queueOf(x)}/${x.id}`}>${text}</a>`;
  const slowest = Math.max(1, ...e.victims.map((v) => v.added_ns));
  return html`<section id="episode" class="panel" aria-label="episode">
    <h2><${Mark} is=${e.end ? 'over' : 'high'} /> Queue ${queueOf(e)}: ${slowItself(e) ? 'slow' : 'congested'} ${e.end ? 'from' : 'since'} ${hms(e.begin)}, for ${duration(e)}</h2>
    <p>${ns(e.peak_latency_ns)} at the peak${e.usual_latency_ns ? `, ${times(e.peak_latency_ns / e.usual_latency_ns)} its usual ${ns(e.usual_latency_ns)}` : ''}${e.peak_occupancy != null ? `; occupancy ${count(e.peak_occupancy)}` : ''}; ${count(e.packets)} packets, ${count(e.bytes)}B${e.ecn_marked > 0 ? `, ${percent(e.ecn_marked / e.packets)} of them marked (ECN)` : ''}. ${''}
      <span class="quiet">${all.length > 1 ? `Episode ${all.length - at} of ${all.length}` : ''}${to(all[at + 1], 'the one before')}${to(all[at - 1], 'the next one')}</span></p>
    ${slowItself(e) && html`<p><b>The queue is as short as usual: the node itself is slow.</b> No flow fills it.</p>`}
    ${e.windows.length > 1 && html`<figure><${Bars} label="bytes and latency in the episode" bars=${e.windows.map((w) => w.bytes)} over=${e.windows.map((w) => w.max_latency_ns)} /><figcaption>Bars: bytes in each ${ns(e.window_ns)}, up to ${count(Math.max(...e.windows.map((w) => w.bytes)))}B. Line: latency, up to ${ns(Math.max(...e.windows.map((w) => w.max_latency_ns)))}.</figcaption></figure>`}
    <div class="split">
      <section id="culprits"><h3>${slowItself(e) ? 'Whose bytes were in it' : 'Who filled it'}</h3><p class="quiet">${e.doubt ? `Not known: ${e.doubt}.` : 'Bytes in this queue, in this episode.'}</p><ol class="shares">${e.culprits.map((c) => html`<li><meter min="0" max="1" value=${c.share} aria-label=${percent(c.share)}></meter> <b>${percent(c.share)}</b> <${Flow} id=${c.flow} /></li>`)}${e.other_bytes > 0 && html`<li><meter min="0" max="1" value=${e.other_bytes / e.bytes} aria-label=${percent(e.other_bytes / e.bytes)}></meter> <b>${percent(e.other_bytes / e.bytes)}</b> flows without a record: the flow table was full</li>`}</ol></section>
      <section id="victims"><h3>Who waited</h3><p class="quiet">Time beyond the usual, all packets of a flow together.</p><ol class="shares">${e.victims.map((v) => html`<li><meter min="0" max=${slowest} value=${v.added_ns} aria-label=${ns(v.added_ns)}></meter> <b>${ns(v.added_ns)}</b> <${Flow} id=${v.flow} />${e.culprits.some((c) => c.flow === v.flow && c.share > 0.2) && html` <span class="quiet">fills it itself</span>`}</li>`)}</ol></section>
    </div>
    <p class="quiet"><a href=${'#flows/?node=' + e.node}>All flows through node ${e.node}</a> · <a href=${'#paths/?node=' + e.node}>paths through it</a></p></section>`;
}

function duration(e) {
  const ms = (e.end ? Date.parse(e.end) : Date.now()) - Date.parse(e.begin);
  return ms < 10000 ? ns(1e6 * ms) : lasts(e.begin, Date.parse(e.begin) + ms);
}
