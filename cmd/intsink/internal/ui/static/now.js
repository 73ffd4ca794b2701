// Now: what is wrong, a line for each problem, else what was looked at; and what was wrong in the last day.
import { html, useEffect } from './vendor/htm-preact-3.1.1.js';
import { State } from './parts.js';
import { ago, count, ns, sum } from './format.js';

export function Now({ problems, status, rates }) {
  const a = problems.data;
  if (!a) return html`<${State} poll=${problems} rows=${1} />`;
  const [open, ended] = [a.items.filter((p) => !p.until), a.items.filter((p) => p.until)];
  return html`<${State} poll=${problems} rows=${1} />
    ${!open.length && html`<${Well} a=${a} status=${status.data} rates=${rates} />`}
    <ul class="problems" aria-label="what is wrong now">${open.map((p) => html`<${Line} key=${p.id} p=${p} />`)}</ul>
    ${ended.length > 0 && html`<h2>Over, in the last 24 hours</h2><ul class="problems over">${ended.slice(0, 50).map((p) => html`<${Line} key=${p.id} p=${p} />`)}</ul>`}
    ${a.totals.left_out > 0 && html`<p class="state bad">${count(a.totals.left_out)} more that there was no room for.</p>`}`;
}

// Well says what "nothing is wrong" is said of.
function Well({ a, status, rates }) {
  const flows = status ? status.workers.reduce((n, w) => n + w.flows, 0) : null;
  return html`<p class="state well"><b>Nothing is wrong.</b> Looked at: ${count(sum(a.looked.signs))} counters and states${flows != null && html`, ${count(flows)} flows`}${
    rates.total != null && html`, ${count(rates.total)} packets/s`}, ${ago(a.looked.at)}.</p>`;
}

function Line({ p }) {
  const to = view(p);
  return html`<li class=${p.until ? '' : p.severity}>
    <span class=${'pill' + (p.until ? '' : ' bad')}>${p.kind.replace(/_/g, ' ')}</span> <b>${to ? html`<a href=${to}>${where(p)}</a>` : where(p)}</b> ${p.what}
    <span class="quiet" title=${p.since + (p.until ? ' to ' + p.until : '')}>${p.until ? `${ago(p.until)}, lasted ${ago(p.since, Date.parse(p.until)).replace(' ago', '')}` : `since ${ago(p.since)}`}</span>
    ${p.value != null && html` <span class="chip">${amount(p.value, p.unit)}${p.usual ? `, ${ratio(p.value / p.usual)} x its usual ${amount(p.usual, p.unit)}` : ''}</span>`}
    <div class="quiet">${[p.evidence.why, p.evidence.from && `before: ${p.evidence.from}; now: ${p.evidence.to}`, p.until ? '' : p.todo].filter(Boolean).join(' · ')}</div>
    ${(p.evidence.flows || []).map((f) => html`<a class="flow" key=${f} href=${'#flows/' + f}><code>${f}</code></a> `)}</li>`;
}

const where = (p) => p.place.map((x) => `${x.what} ${x.name ? `${x.name} (${x.id})` : x.id}`).join(', ');
const amount = (v, unit) => (unit === 'ns' ? ns(v) : `${count(v)} ${unit || ''}`);
const ratio = (r) => (r < 10 ? r.toFixed(1) : count(Math.round(r)));

// view is the address of the view that shows the place of p.
function view(p) {
  const first = p.place[0];
  if (!first) return '';
  return { collector: '#collectors', link: '#links', port: '#links', worker: '#workers', node: '#paths', segment: '#hops' }[first.what] || '';
}

// useTitle puts how many problems there are into the window's title and icon.
export function useTitle(problems) {
  const n = problems.data ? problems.data.totals.open : 0;
  useEffect(() => {
    document.title = n ? `(${n}) intsink` : 'intsink';
    document.querySelector('link[rel="icon"]').href = problems.error || n ? 'icon-bad.svg' : 'icon.svg';
  }, [n, problems.error]);
  return n;
}
