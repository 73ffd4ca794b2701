// The sink itself: collectors, workers, the configuration, and who changed something.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Reasons, Mark, bad, num } from './parts.js';
import { Chart } from './chart.js';
import { useHistory } from './history.js';
import { ago, count, lasts, ns, sum, hms } from './format.js';

export function Sink({ status, problems }) {
  const s = status.data;
  const history = usePoll('config/history', {}, 10000);
  const h = useHistory('sink', {}, 5);
  if (!s) return html`<${State} poll=${status} rows=${1} />`;
  const open = items(problems).filter((p) => !p.until);
  return html`<${State} poll=${status} rows=${1} />
    ${s.collectors.length > 0 ? html`<${Table} caption="Collectors" id=${(c) => c.name} rows=${s.collectors} columns=${collectors(Date.parse(s.now))} />` : html`<p class="state">No collector is configured: reports go nowhere. Add collector blocks with an address.</p>`}
    ${h && html`<${Chart} title="Reports/s" times=${h.times} series=${{ reports: each(h, 'reports'), 'report packets lost': each(h, 'report_packets_lost') }} show=${count} />`}
    <${Table} caption="Workers" id=${(w) => w.name} rows=${s.workers} columns=${workers(open)} />
    <p>Packet memory: <b>${count(s.mbufs_in_use)}</b> of ${count(s.mbufs)} mbufs in use. <meter min="0" max=${s.mbufs} high=${0.8 * s.mbufs} value=${s.mbufs_in_use} aria-label="mbufs in use"></meter></p>
    <${Writes} writes=${s.writes || []} />
    ${history.data && history.data.items.length > 0 && html`<${Table} caption="Configurations" id=${(c) => c.number} rows=${history.data.items} columns=${configurations} />`}`;
}

const each = (h, what) => h.items[0][what].map((n) => (n == null ? null : n / 5));

const collectors = (now) => [
  { name: 'collector', value: (c) => c.name, cell: (c) => html`<b>${c.name}</b> <span class="quiet">${c.address}</span>` },
  { name: 'state', value: (c) => (c.losing ? 1 : 0), cell: (c) => (c.losing ? html`<span class="pill bad"><${Mark} is="high" /> ${c.losing.reasons.join(', ')}: losing for ${lasts(c.losing.since, now)}</span>` : html`<span class="pill good">well</span>`) },
  num('reports', 'reports'),
  { name: 'packets sent', number: true, value: (c) => c.packets_sent, cell: (c) => html`<span class=${c.packets > 0 && c.packets_sent === 0 ? 'wrong' : ''}>${count(c.packets_sent)} of ${count(c.packets)}</span>` },
  { name: 'lost since the start', value: (c) => sum(c.dropped), cell: (c) => html`<span class=${sum(c.dropped) > 0 ? 'wrong' : ''}><${Reasons} of=${c.dropped} /></span>` },
  { name: 'budget', value: (c) => c.budget_packets, cell: budget },
  { name: 'shed', value: (c) => sum(c.shed), cell: (c) => html`<${Reasons} of=${c.shed} />` },
  { name: 'gateway', value: (c) => c.gateway_known, cell: (c) => (c.gateway_known == null ? 'kernel' : c.gateway_known ? 'known' : html`<span class="pill bad">unknown</span>`) },
];

function budget(c) {
  const parts = [c.budget_packets && `${count(c.budget_packets)} packets/s`, c.budget_bits && `${count(c.budget_bits)} bit/s`].filter(Boolean);
  return parts.length ? parts.join(', ') : html`<span class="quiet">none</span>`;
}

// since says for how long a problem of a kind has been.
function since(open, kind) {
  const p = open.find((x) => x.kind === kind);
  return p && html` <span class="pill bad">for ${lasts(p.since)}</span>`;
}

const workers = (open) => [
  { name: 'worker', value: (w) => w.name, cell: (w) => html`<b>${w.name}</b> <span class="quiet">lcore ${w.lcore}</span>${since(open.filter((p) => (p.evidence.why || '').includes(`worker ${w.name} `)), 'worker_behind')}` },
  { name: 'flows', number: true, value: (w) => w.flows, cell: (w) => `${count(w.flows)} of ${count(w.flow_capacity)}` },
  { name: 'evicted', number: true, value: (w) => w.evictions, cell: (w) => html`${bad(w.evictions)}${w.evictions > 0 && since(open, 'table_full')}` },
  { name: 'refused', number: true, value: (w) => w.refusals, cell: (w) => html`${bad(w.refusals)}${w.refusals > 0 && since(open, 'flows_refused')}` },
  num('longest pause', 'longest_poll_gap_ns', ns),
  { name: 'pauses longer than', value: (w) => sum(w.poll_gaps_over), cell: (w) => html`<${Reasons} of=${w.poll_gaps_over} />` },
  { name: 'refresh stretched', number: true, value: (w) => w.refresh_stretch, cell: (w) => `${w.refresh_stretch} ×` },
];

// Writes is the audit: the last requests to change something, the newest first.
const Writes = ({ writes }) => (writes.length ? html`<${Table} caption="Who asked to change something" id=${(w) => w.time + w.what} rows=${[...writes].reverse()} most=${20} columns=${[
  { name: 'time', value: (w) => w.time, cell: (w) => html`<time>${hms(w.time)}</time> <span class="quiet">${ago(w.time)}</span>` },
  { name: 'what', value: (w) => w.what, cell: (w) => html`<b>${w.what}</b>` },
  { name: 'who', value: (w) => w.who, cell: (w) => w.who },
  { name: 'result', value: (w) => w.result, cell: (w) => html`<span class=${w.result === 'ok' || w.result === 'done' ? '' : 'wrong'}>${w.result}</span> <span class="quiet">${w.detail}</span>` },
]} />` : null);

const configurations = [
  { name: 'time', value: (c) => c.time, cell: (c) => html`<time>${c.time.slice(0, 10)} ${hms(c.time)}</time>` },
  num('number', 'number'),
  { name: 'by', value: (c) => c.by, cell: (c) => c.by },
  { name: 'result', value: (c) => c.result, cell: (c) => c.result },
  { name: 'comment', value: (c) => c.comment, cell: (c) => c.comment },
  { name: 'file', value: (c) => c.config, cell: (c) => html`<code>${c.config}</code>` },
];
