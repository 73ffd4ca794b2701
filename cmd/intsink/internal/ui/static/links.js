// Links and taps: rates, drops by reason, INT by type, what is malformed; a chart of
// the last minutes; the ports below them.
import { html, useRef, useEffect } from './vendor/htm-preact-3.1.1.js';
import { State, Table, Reasons } from './parts.js';
import { count, sum, clock } from './format.js';

export function Links({ status, rates }) {
  const s = status.data;
  const rows = s ? s.links.flatMap((l) => l.directions.map((d) => ({ ...d, link: l, key: `${l.name} ${d.direction}` }))) : [];
  const rate = (row) => rates.links[row.key] || {};
  return html`<${State} poll=${status} rows=${rows.length} empty="No link is configured: add a link block, see docs/configuration.md." />
    ${rows.length > 0 && html`
    <${Chart} history=${rates.history} />
    <${Table} caption="Links" id=${(r) => r.key} rows=${rows} columns=${[
      { name: 'link', value: (r) => r.key, cell: (r) => html`<b>${r.link.name}</b>` },
      { name: 'direction', value: (r) => r.direction, cell: (r) => r.direction.replace('_', ' ') },
      { name: 'received/s', number: true, value: (r) => rate(r).received, cell: (r) => count(rate(r).received) },
      { name: 'forwarded/s', number: true, value: (r) => rate(r).forwarded, cell: (r) => count(rate(r).forwarded) },
      { name: 'dropped/s', number: true, value: (r) => rate(r).dropped, cell: (r) => count(rate(r).dropped) },
      { name: 'received', number: true, value: (r) => r.received, cell: (r) => count(r.received) },
      { name: 'dropped', value: (r) => sum(r.dropped), cell: (r) => html`<${Reasons} of=${r.dropped} />` },
    ]} />
    <${Table} caption="INT on each link" id=${(l) => l.name} rows=${s.links} columns=${[
      { name: 'link', value: (l) => l.name, cell: (l) => html`<b>${l.name}</b>` },
      { name: 'packets with INT', value: (l) => sum(l.int), cell: (l) => html`<${Reasons} of=${l.int} none="none seen: does int {} say how your network marks INT?" />` },
      { name: 'malformed', value: (l) => sum(l.malformed), cell: (l) => html`<${Reasons} of=${l.malformed} />` },
      { name: 'leaked', number: true, value: (l) => l.leaked, cell: (l) => count(l.leaked) },
    ]} />
    <${Ports} ports=${s.ports} rates=${rates.ports} />`}`;
}

const Ports = ({ ports, rates }) => html`<${Table} caption="Ports" id=${(p) => p.name} rows=${ports} columns=${[
  { name: 'port', value: (p) => p.name, cell: (p) => html`<b>${p.name}</b>` },
  { name: 'link', value: (p) => p.link_up, cell: (p) => (p.link_up ? html`<span class="pill good">up</span>` : html`<span class="pill bad" title=${p.link_down}>down</span>`) },
  { name: 'in, bit/s', number: true, value: (p) => rates[p.name]?.rx, cell: (p) => count(rates[p.name]?.rx) },
  { name: 'out, bit/s', number: true, value: (p) => rates[p.name]?.tx, cell: (p) => count(rates[p.name]?.tx) },
  { name: 'received', number: true, value: (p) => p.rx_packets, cell: (p) => count(p.rx_packets) },
  { name: 'sent', number: true, value: (p) => p.tx_packets, cell: (p) => count(p.tx_packets) },
  { name: 'missed', number: true, value: (p) => p.rx_missed, cell: (p) => count(p.rx_missed) },
  { name: 'errors', number: true, value: (p) => p.rx_errors + p.rx_uncut + p.tx_errors, cell: (p) => count(p.rx_errors + p.rx_uncut + p.tx_errors) },
  { name: 'without mbuf', number: true, value: (p) => p.rx_nombuf, cell: (p) => count(p.rx_nombuf) },
]} />`;

const strokes = ['#2b7bba', '#d1772b', '#2e9e6b', '#b0497f', '#7a62c9', '#8a8a2b'];

const span = 600; // seconds of the chart

// Chart draws packets received a second for each direction of each link.
function Chart({ history }) {
  const box = useRef(null);
  const plot = useRef(null);
  const names = Object.keys(history.series).slice(0, strokes.length);
  const key = names.join();
  useEffect(() => {
    if (!names.length) return undefined;
    const width = () => Math.max(280, box.current.clientWidth);
    const grey = '#888';
    plot.current = new window.uPlot({
      width: width(), height: 180, cursor: { y: false },
      axes: [{ stroke: grey, grid: { stroke: '#8882' }, incrs: [60, 120, 300], values: (_, v) => v.map((t) => clock(1000 * t).slice(0, 5)) },
        { stroke: grey, grid: { stroke: '#8882' }, size: 60, values: (_, v) => v.map(count) }],
      scales: { x: { range: (_, low, high) => { const now = high ?? Date.now() / 1000; return [now - span, now]; } }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] } },
      series: [{ label: 'time', value: (_, t) => (t == null ? '' : clock(1000 * t).slice(0, 8)) },
        ...names.map((n, i) => ({ label: n.replace('_', ' '), stroke: strokes[i], width: 1.5, value: (_, v) => (v == null ? '' : `${count(v)} packets/s`) }))],
    }, data(history, names), box.current);
    const resize = () => plot.current.setSize({ width: width(), height: 180 });
    addEventListener('resize', resize);
    return () => { removeEventListener('resize', resize); plot.current.destroy(); plot.current = null; };
  }, [key]);
  useEffect(() => { if (plot.current) plot.current.setData(data(history, names)); }, [history.times]);
  return html`<figure class="chart" role="img" aria-label="packets received per second, the last ten minutes"><figcaption>Packets/s received, the last ten minutes</figcaption><div ref=${box}></div></figure>`;
}

const data = (history, names) => [history.times, ...names.map((n) => history.series[n])];
