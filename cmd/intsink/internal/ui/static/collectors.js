// Collectors: what each was sent, what was lost on the way by reason, and what its
// budget shed by event.
import { html } from './vendor/htm-preact-3.1.1.js';
import { State, Table, Reasons } from './parts.js';
import { count, sum, lasts } from './format.js';

export function Collectors({ status }) {
  const rows = status.data ? status.data.collectors : [];
  return html`<${State} poll=${status} rows=${rows.length} empty="No collector is configured: reports go nowhere. Add collector blocks with an address." />
    ${rows.length > 0 && html`<${Table} caption="Collectors" id=${(c) => c.name} rows=${rows} columns=${[
      { name: 'collector', value: (c) => c.name, cell: (c) => html`<b>${c.name}</b> <span class="quiet">${c.address}</span>` },
      { name: 'reports', number: true, value: (c) => c.reports, cell: (c) => count(c.reports) },
      { name: 'packets sent', number: true, value: (c) => c.packets_sent, cell: (c) => html`<span class=${c.packets > 0 && c.packets_sent === 0 ? 'wrong' : ''}>${count(c.packets_sent)} of ${count(c.packets)}</span>` },
      { name: 'lost', value: (c) => sum(c.dropped), cell: (c) => lost(c, Date.parse(status.data.now)) },
      { name: 'budget', value: (c) => c.budget_packets, cell: (c) => budget(c) },
      { name: 'shed', value: (c) => sum(c.shed), cell: (c) => html`<${Reasons} of=${c.shed} />` },
      { name: 'gateway', value: (c) => c.gateway_known, cell: (c) => (c.gateway_known == null ? 'kernel' : c.gateway_known ? 'known' : html`<span class="pill bad">unknown</span>`) },
    ]} />`}`;
}

// lost is what a collector lost, red while it loses and where nothing was ever sent.
function lost(c, now) {
  const reasons = html`<${Reasons} of=${c.dropped} />`;
  if (c.losing) return html`<span class="pill bad">${c.losing.reasons.join(', ')} since ${lasts(c.losing.since, now)}</span> ${reasons}`;
  return sum(c.dropped) > 0 && !c.packets_sent ? html`<span class="pill bad">${reasons}</span>` : reasons;
}

function budget(c) {
  const parts = [c.budget_packets && `${count(c.budget_packets)} packets/s`, c.budget_bits && `${count(c.budget_bits)} bit/s`].filter(Boolean);
  return parts.length ? parts.join(', ') : html`<span class="quiet">none</span>`;
}
