// Sinks: those that a network's page is over: who each says it is, whether it answers, its clock, and its own page.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Table, Mark, nodeName, num } from './parts.js';
import { ago, count, ns } from './format.js';

export function Sinks() {
  const poll = usePoll('sinks');
  const unresolved = Object.entries(poll.data?.unresolved || {});
  return html`<${State} poll=${poll} rows=${items(poll).length} empty="No sink is known: network { sinks } of intsink-collect names them." />
    ${unresolved.map(([name, why]) => html`<p class="state bad" key=${name}>${name} does not resolve: ${why}</p>`)}
    ${items(poll).length > 0 && html`<${Table} caption="Sinks" id=${(s) => s.sink} rows=${items(poll)} columns=${columns} />`}`;
}

const columns = [
  { name: 'sink', value: (s) => s.sink, cell: (s) => html`<a href=${s.url} target="_blank" rel="noreferrer"><b>${s.sink}</b></a>` },
  { name: 'node', value: (s) => s.node, cell: (s) => (s.node == null ? html`<span class="quiet">not known</span>` : nodeName(s.node)) },
  { name: 'state', value: (s) => (s.answers ? s.ready : s.why), cell: state },
  num('flows', 'flows', count),
  { name: 'clock', number: true, value: (s) => s.clock_ahead_ns, cell: (s) => (s.clock_ahead_ns === 0 ? 'as here' : html`<span class="wrong">${ns(Math.abs(s.clock_ahead_ns))} ${s.clock_ahead_ns > 0 ? 'ahead' : 'behind'}</span>`) },
  { name: 'started', value: (s) => s.started, cell: (s) => (s.started ? ago(s.started) : '–') },
  { name: 'version', value: (s) => s.version, cell: (s) => s.version },
];

function state(s) {
  if (!s.answers) return html`<span class="pill bad"><${Mark} is="high" /> ${s.why}</span>`;
  if (s.same_node_as) return html`<span class="pill bad">the same node as ${s.same_node_as}</span>`;
  return s.ready === 'ok' ? html`<span class="pill good">ready</span>` : html`<span class="pill bad">${s.ready}</span>`;
}
