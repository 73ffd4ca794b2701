// Segments: what lies between two nodes, with its latency beside what is usual; and interfaces with their utilization.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, NodeLink, Only, asked, bad, names, portName, num, seen, latencies, Gone } from './parts.js';
import { Past } from './history.js';
import { Here, between, kind } from './now.js';
import { ns } from './format.js';

export function Segments({ rest, problems }) {
  const segments = usePoll('links', { limit: 500, ...asked(rest) });
  const interfaces = usePoll('interfaces', { limit: 500 });
  const rows = items(segments);
  const ends = (i) => [i.node, ...rows.filter((l) => l.from_node === i.node && l.from_egress === i.egress).map((l) => l.to_node)];
  const busy = items(interfaces).filter((i) => !rest.startsWith('?') || ends(i)[1]);
  const wrong = (l) => items(problems).filter((p) => !p.until && between(p, l.from_node, l.to_node));
  return html`<${Only} view="segments" rest=${rest} /><${State} poll=${segments} rows=${rows.length} empty="No segment is known: they need ingress and egress timestamps in INT (instruction bits 4 and 5), and the link_latency event in a watch." />
    ${rest.startsWith('?') && html`<${Here} problems=${problems} is=${(p) => between(p, ...(asked(rest).link || '').split('-')) || rows.some((l) => between(p, l.from_node, l.to_node))} />`}
    ${rows.length === 1 && html`<${Past} what="segments" of=${{ link: `${rows[0].from_node}-${rows[0].to_node}` }} title="Latency of this segment" />`}
    ${rows.length > 0 && html`<${Table} caption="Segments: from a node's egress to the next one's ingress" id=${name} rows=${rows} sort=${{ column: 3, down: true }} columns=${[
      { name: 'from › to', value: name, cell: (l) => html`<b><${NodeLink} node=${l.from_node} />:${portName(l.from_node, l.from_egress)} › <${NodeLink} node=${l.to_node} />:${portName(l.to_node, l.to_ingress)}</b> ${wrong(l).map((p) => html`<span class="pill bad">${kind(p)}</span> `)}<${Gone} nodes=${[l.from_node, l.to_node]} />` },
      ...latencies,
      num('reference', 'reference_ns', ns),
      num('clock skews', 'clock_skews', bad),
      { name: 'utilization', number: true, value: (l) => l.tx_utilization, cell: (l) => (l.tx_utilization == null ? '–' : l.tx_utilization) },
      seen,
      { name: 'flows', cell: (l) => html`<a href=${`#flows/?link=${l.from_node}-${l.to_node}`}>its flows</a>` },
    ]} />`}
    ${interfaces.data && busy.length > 0 && html`<${Table} caption="Interfaces" id=${(i) => `${i.node}:${i.egress}`} rows=${busy} columns=${[
      { name: 'node : egress', value: (i) => i.node, cell: (i) => html`<b><${NodeLink} node=${i.node} />:${portName(i.node, i.egress)}</b>` },
      { name: 'utilization', number: true, value: (i) => i.tx_utilization, cell: (i) => (i.unit ? `${i.tx_utilization} %` : i.tx_utilization) },
      { name: 'state', value: (i) => i.busy, cell: (i) => (i.busy ? html`<span class="pill bad">busy</span>` : ends(i).some((n) => names.gone[n]) ? html`<${Gone} nodes=${ends(i)} />` : i.unit ? 'calm' : html`<span class="quiet" title="what the node writes for a full interface is not known: node_model { tx_utilization_full }">unit not known</span>`) },
      seen,
    ]} />${interfaces.data.totals?.hint && html`<p class="quiet">${interfaces.data.totals.hint[0].toUpperCase() + interfaces.data.totals.hint.slice(1)}.</p>`}`}`;
}

const name = (l) => `${l.from_node}:${l.from_egress}-${l.to_node}:${l.to_ingress}`;
