// Links between nodes: latency, how far it moved while the page was open, and
// interfaces with their utilization.
import { html, useRef } from './vendor/htm-preact-3.1.1.js';
import { usePoll } from './api.js';
import { State, Table, NodeLink, Only, asked } from './parts.js';
import { ns, count, ago } from './format.js';

export function Hops({ rest }) {
  const links = usePoll('links', { limit: 200, ...asked(rest) });
  const interfaces = usePoll('interfaces', { limit: 200 });
  const range = useRange(links.data);
  const rows = links.data ? links.data.items : [];
  const busy = interfaces.data ? interfaces.data.items : [];
  return html`<${Only} view="hops" rest=${rest} /><${State} poll=${links} rows=${rows.length} empty="No link between nodes is known: they need ingress and egress timestamps in INT (instruction bits 4 and 5), and the link_latency event in a watch." />
    ${rows.length > 0 && html`<${Table} caption="Links between nodes" id=${name} rows=${rows} sort=${{ column: 1, down: true }} columns=${[
      { name: 'from › to', value: name, cell: (l) => html`<b><${NodeLink} node=${l.from_node} />:${l.from_egress ?? '-'} › <${NodeLink} node=${l.to_node} />:${l.to_ingress ?? '-'}</b>` },
      { name: 'latency', number: true, value: (l) => l.latency_ns, cell: (l) => ns(l.latency_ns) },
      { name: 'jitter seen here', number: true, value: (l) => spread(range.get(name(l))), cell: (l) => ns(spread(range.get(name(l)))) },
      { name: 'reported', number: true, value: (l) => l.reference_ns, cell: (l) => ns(l.reference_ns) },
      { name: 'clock skews', number: true, value: (l) => l.clock_skews, cell: (l) => count(l.clock_skews) },
      { name: 'utilization', number: true, value: (l) => l.tx_utilization, cell: (l) => (l.tx_utilization == null ? '–' : l.tx_utilization) },
      { name: 'seen', value: (l) => l.last_seen, cell: (l) => ago(l.last_seen) },
    ]} />`}
    <${State} poll=${interfaces} rows=${busy.length} empty="No interface is known: they are looked at where a watch has tx_utilization and packets carry it (instruction bit 7)." />
    ${busy.length > 0 && html`<${Table} caption="Interfaces" id=${(i) => `${i.node}:${i.egress}`} rows=${busy} columns=${[
      { name: 'node : egress', value: (i) => i.node, cell: (i) => html`<b><${NodeLink} node=${i.node} />:${i.egress}</b>` },
      { name: 'utilization', number: true, value: (i) => i.tx_utilization, cell: (i) => i.tx_utilization },
      { name: 'state', value: (i) => i.busy, cell: (i) => (i.busy ? html`<span class="pill bad">busy</span>` : 'calm') },
      { name: 'seen', value: (i) => i.last_seen, cell: (i) => ago(i.last_seen) },
    ]} />`}`;
}

const name = (l) => `${l.from_node}:${l.from_egress}-${l.to_node}:${l.to_ingress}`;
const spread = (r) => (r ? r.high - r.low : null);

// useRange keeps the lowest and highest latency of each link since the page was opened.
function useRange(data) {
  const memory = useRef(new Map());
  for (const l of data ? data.items : []) {
    if (l.latency_ns == null) continue;
    const r = memory.current.get(name(l)) || { low: l.latency_ns, high: l.latency_ns };
    memory.current.set(name(l), { low: Math.min(r.low, l.latency_ns), high: Math.max(r.high, l.latency_ns) });
  }
  return memory.current;
}
