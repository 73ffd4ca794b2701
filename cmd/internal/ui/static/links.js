// Links and taps of the sink, with charts of the last ten minutes; the ports below them.
import { html } from './vendor/htm-preact-3.1.1.js';
import { State, Table, Reasons, bad, num } from './parts.js';
import { Chart } from './chart.js';
import { useHistory } from './history.js';
import { count, sum } from './format.js';

export function Links({ status, rates }) {
  const s = status.data;
  const rows = s ? s.links.flatMap((l) => l.directions.map((d) => ({ ...d, link: l, key: `${l.name} ${d.direction}` }))) : [];
  const rate = (row) => rates.links[row.key] || {};
  const h = useHistory('links', {}, 5);
  const by = (what, times) => Object.fromEntries(h.items.filter((i) => i[what].some((n) => n)).map((i) => [`${i.link} ${i.direction.replace('_', ' ')}`, i[what].map((n) => (n == null ? null : (n * times) / 5))]));
  return html`<${State} poll=${status} rows=${rows.length} empty="No link is configured: add a link block, see docs/configuration.md." />
    ${rows.length > 0 && html`
    ${h && html`<div class="charts"><${Chart} title="Received, packets/s" times=${h.times} series=${by('packets', 1)} show=${count} />
    <${Chart} title="Received, bit/s" times=${h.times} series=${by('bytes', 8)} show=${count} /></div>`}
    <${Table} caption="Links of this sink" id=${(r) => r.key} rows=${rows} columns=${[
      { name: 'link', value: (r) => r.key, cell: (r) => html`<b>${r.link.name}</b>` },
      { name: 'direction', value: (r) => r.direction, cell: (r) => r.direction.replace('_', ' ') },
      { name: 'received/s', number: true, value: (r) => rate(r).received, cell: (r) => count(rate(r).received) },
      { name: 'forwarded/s', number: true, value: (r) => rate(r).forwarded, cell: (r) => count(rate(r).forwarded) },
      { name: 'dropped/s', number: true, value: (r) => rate(r).dropped, cell: (r) => bad(rate(r).dropped) },
      num('received', 'received'),
      { name: 'dropped', value: (r) => sum(r.dropped), cell: (r) => html`<span class=${sum(r.dropped) > 0 ? 'wrong' : ''}><${Reasons} of=${r.dropped} /></span>` },
    ]} />
    <${Table} caption="INT on each link" id=${(l) => l.name} rows=${s.links} columns=${[
      { name: 'link', value: (l) => l.name, cell: (l) => html`<b>${l.name}</b>` },
      { name: 'packets with INT', value: (l) => sum(l.int), cell: (l) => html`<${Reasons} of=${l.int} none="none seen: does int {} say how your network marks INT?" />` },
      { name: 'malformed', value: (l) => sum(l.malformed), cell: (l) => html`<${Reasons} of=${l.malformed} />` },
      num('leaked', 'leaked'),
    ]} />
    <${Ports} ports=${s.ports} rates=${rates.ports} />`}`;
}

const Ports = ({ ports, rates }) => html`<${Table} caption="Ports" id=${(p) => p.name} rows=${ports} columns=${[
  { name: 'port', value: (p) => p.name, cell: (p) => html`<b>${p.name}</b>` },
  { name: 'link', value: (p) => p.link_up, cell: (p) => (p.link_up ? html`<span class="pill good">up</span>` : html`<span class="pill bad" title=${p.link_down}>down</span>`) },
  { name: 'in, bit/s', number: true, value: (p) => rates[p.name]?.rx, cell: (p) => count(rates[p.name]?.rx) },
  { name: 'out, bit/s', number: true, value: (p) => rates[p.name]?.tx, cell: (p) => count(rates[p.name]?.tx) },
  num('received', 'rx_packets'),
  num('sent', 'tx_packets'),
  num('missed', 'rx_missed', bad),
  { name: 'errors', number: true, value: (p) => p.rx_errors + p.rx_uncut + p.tx_errors, cell: (p) => bad(p.rx_errors + p.rx_uncut + p.tx_errors) },
  num('without mbuf', 'rx_nombuf', bad),
]} />`;
