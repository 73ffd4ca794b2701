// Workers: flows, pauses between polls, rings by which one worker hands packets to another, and
// the memory of packets.
import { html } from './vendor/htm-preact-3.1.1.js';
import { State, Table, Reasons } from './parts.js';
import { count, ns } from './format.js';

// rings are the columns about rings: none where every worker receives by itself.
const rings = (rows) => !rows.some((w) => w.rings && w.rings.length) ? [] : [
  { name: 'by ring', number: true, value: (w) => total(w, 'received'), cell: (w) => (w.rings.length ? count(total(w, 'received')) : '-') },
  { name: 'ring full', number: true, value: (w) => total(w, 'dropped'), cell: (w) => (w.rings.length ? count(total(w, 'dropped')) : '-') },
  { name: 'waiting in the ring', value: (w) => total(w, 'waiting'), cell: (w) => w.rings.map((r) => `${r.port} ${r.waiting} of ${r.room}`).join(', ') || 'it receives by itself' },
];

const total = (w, name) => w.rings.reduce((sum, r) => sum + r[name], 0);

export function Workers({ status }) {
  const s = status.data;
  const rows = s ? s.workers : [];
  return html`<${State} poll=${status} rows=${rows.length} empty="No worker runs." />
    ${rows.length > 0 && html`<${Table} caption="Workers" id=${(w) => w.name} rows=${rows} columns=${[
      { name: 'worker', value: (w) => w.name, cell: (w) => html`<b>${w.name}</b> <span class="quiet">lcore ${w.lcore}</span>` },
      { name: 'flows', number: true, value: (w) => w.flows, cell: (w) => `${count(w.flows)} of ${count(w.flow_capacity)}` },
      { name: 'evicted', number: true, value: (w) => w.evictions, cell: (w) => count(w.evictions) },
      { name: 'refused', number: true, value: (w) => w.refusals, cell: (w) => count(w.refusals) },
      { name: 'longest pause', number: true, value: (w) => w.longest_poll_gap_ns, cell: (w) => ns(w.longest_poll_gap_ns) },
      { name: 'pauses longer than', value: (w) => 0, cell: (w) => html`<${Reasons} of=${w.poll_gaps_over} />` },
      { name: 'refresh stretched', number: true, value: (w) => w.refresh_stretch, cell: (w) => `${w.refresh_stretch} x` },
      ...rings(rows),
    ]} />
    <p>Packet memory: <b>${count(s.mbufs_in_use)}</b> of ${count(s.mbufs)} mbufs in use.
      <meter min="0" max=${s.mbufs} high=${0.8 * s.mbufs} value=${s.mbufs_in_use} aria-label="mbufs in use"></meter></p>`}`;
}
