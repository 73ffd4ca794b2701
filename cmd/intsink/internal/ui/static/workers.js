// Workers: flows, pauses between polls, and the memory of packets.
import { html } from './vendor/htm-preact-3.1.1.js';
import { State, Table, Reasons } from './parts.js';
import { count, ns } from './format.js';

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
    ]} />
    <p>Packet memory: <b>${count(s.mbufs_in_use)}</b> of ${count(s.mbufs)} mbufs in use.
      <meter min="0" max=${s.mbufs} high=${0.8 * s.mbufs} value=${s.mbufs_in_use} aria-label="mbufs in use"></meter></p>`}`;
}
