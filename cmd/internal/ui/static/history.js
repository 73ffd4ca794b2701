// What was: the last ten minutes, from /api/v1/history, so that a chart is full when the page opens.
import { html } from './vendor/htm-preact-3.1.1.js';
import { usePoll } from './api.js';
import { Chart, Spark } from './chart.js';
import { ns, clock } from './format.js';

// useHistory is the answer for ten minutes in steps of so many seconds, and times: when each step began, in seconds.
export function useHistory(what, parameters, step = 10) {
  const h = usePoll(what && 'history/' + what, { since: '10m', step: step + 's', ...parameters }, 1000 * step).data;
  const begin = h ? Date.parse(h.begin) / 1000 : 0;
  return h && { ...h, times: Array.from({ length: h.steps }, (_, i) => begin + (i * h.step_ns) / 1e9) };
}

const first = (h) => h && h.items.find((i) => i.latency_ns);

// Past draws the latency of one place: queues, hops, segments or paths, and parameters that leave one of them.
export function Past({ what, of, title }) {
  const h = useHistory(what, { limit: 1, ...of }), one = first(h);
  if (!one) return null;
  const series = { median: one.latency_ns.median, 'one in 100 above': one.latency_ns.p99 };
  if (one.usual.latency_ns) series.usual = h.times.map(() => one.usual.latency_ns);
  return html`<${Chart} title=${title} times=${h.times} series=${series} show=${ns} />`;
}

// placeOf is where the history of a problem's place stands, and its parameters.
function placeOf({ kind, place }) {
  const { node, ingress, egress, queue, from, to } = Object.fromEntries(place.map((x) => [x.what, x.id === '65535' ? '' : x.id]));
  if (queue) return ['queues', { node, egress, queue }];
  return { slow_hop: ['hops', { node, ingress, egress }], slow_segment: ['segments', { link: `${from}-${to}` }], usual_changed: from ? ['segments', { link: `${from}-${to}` }] : ['hops', { node }] }[kind] || [];
}

export function Lately({ p }) {
  const [what, of] = placeOf(p);
  const h = useHistory(what, { limit: 1, ...of }, 5), one = first(h);
  if (!one) return null;
  return html`<${Spark} times=${h.times} values=${one.latency_ns.median} label=${`from ${clock(1000 * h.times[0]).slice(0, 5)} on, up to ${ns(Math.max(...one.latency_ns.median))}`} />`;
}
