// Segments: what lies between two nodes, with its latency beside what is usual; and interfaces with their utilization.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, NodeLink, Mark, Only, asked, bad, portName } from './parts.js';
import { Past } from './history.js';
import { ns, ago, times, ratio, level } from './format.js';

export function Segments({ rest }) {
  const segments = usePoll('links', { limit: 500, ...asked(rest) });
  const interfaces = usePoll('interfaces', { limit: 500 });
  const rows = items(segments);
  const busy = items(interfaces);
  return html`<${Only} view="segments" rest=${rest} /><${State} poll=${segments} rows=${rows.length} empty="No segment is known: they need ingress and egress timestamps in INT (instruction bits 4 and 5), and the link_latency event in a watch." />
    ${rows.length === 1 && html`<${Past} what="segments" of=${{ link: `${rows[0].from_node}-${rows[0].to_node}` }} title="Latency of this segment" />`}
    ${rows.length > 0 && html`<${Table} caption="Segments: from a node's egress to the next one's ingress" id=${name} rows=${rows} sort=${{ column: 3, down: true }} columns=${[
      { name: 'from › to', value: name, cell: (l) => html`<b><${NodeLink} node=${l.from_node} />:${portName(l.from_node, l.from_egress)} › <${NodeLink} node=${l.to_node} />:${portName(l.to_node, l.to_ingress)}</b>` },
      { name: 'latency', number: true, value: (l) => l.latency_ns, cell: (l) => ns(l.latency_ns) },
      { name: 'usual', number: true, value: (l) => l.usual.latency_ns, cell: (l) => (l.usual.latency_ns == null ? html`<span class="quiet">not known yet</span>` : ns(l.usual.latency_ns)) },
      { name: 'times usual', number: true, value: (l) => ratio(l.latency_ns, l.usual.latency_ns), cell: (l) => html`<${Mark} is=${level(l.latency_ns, l.usual)} /> ${times(ratio(l.latency_ns, l.usual.latency_ns))}` },
      { name: 'at last report', number: true, value: (l) => l.reference_ns, cell: (l) => ns(l.reference_ns) },
      { name: 'clock skews', number: true, value: (l) => l.clock_skews, cell: (l) => bad(l.clock_skews) },
      { name: 'utilization', number: true, value: (l) => l.tx_utilization, cell: (l) => (l.tx_utilization == null ? '–' : l.tx_utilization) },
      { name: 'seen', value: (l) => l.last_seen, cell: (l) => ago(l.last_seen) },
      { name: 'flows', cell: (l) => html`<a href=${`#flows/?link=${l.from_node}-${l.to_node}`}>its flows</a>` },
    ]} />`}
    ${interfaces.data && busy.length > 0 && html`<${Table} caption="Interfaces" id=${(i) => `${i.node}:${i.egress}`} rows=${busy} columns=${[
      { name: 'node : egress', value: (i) => i.node, cell: (i) => html`<b><${NodeLink} node=${i.node} />:${portName(i.node, i.egress)}</b>` },
      { name: 'utilization', number: true, value: (i) => i.tx_utilization, cell: (i) => i.tx_utilization },
      { name: 'state', value: (i) => i.busy, cell: (i) => (i.busy ? html`<span class="pill bad">busy</span>` : 'calm') },
      { name: 'seen', value: (i) => i.last_seen, cell: (i) => ago(i.last_seen) },
    ]} />`}`;
}

const name = (l) => `${l.from_node}:${l.from_egress}-${l.to_node}:${l.to_ingress}`;
