// Now: what is wrong, a line for each problem, else what was looked at; and what was wrong in the last day.
import { html, useState, useEffect } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { State, Mark, Flow, Was, matchOf, nodeName, wayName } from './parts.js';
import { Lately } from './history.js';
import { ago, at, lasts, count, amount, times, percent, sum } from './format.js';

export function Now({ problems, status, rates }) {
  const a = problems.data || { items: [] };
  const open = a.items.filter((p) => !p.until), ended = a.items.filter((p) => p.until);
  if (!problems.data) return html`<${State} poll=${problems} rows=${1} />`;
  open.sort((p, q) => (q.severity === 'error') - (p.severity === 'error')); // errors first, then the oldest
  return html`<${State} poll=${problems} rows=${1} />
    ${!open.length && html`<${Well} a=${a} status=${status.data} rates=${rates} />`}
    <ul class="problems" aria-label="what is wrong now">${open.map((p) => html`<${Problem} key=${p.id} p=${p} />`)}</ul>
    <${Ended} lately=${ended} history=${status.data?.history} />
    ${a.totals.left_out > 0 && html`<p class="state bad">${count(a.totals.left_out)} more that there was no room for.</p>`}`;
}

// Ended is what is over: of the last day, and where the page is over sinks whose history is stored, of weeks.
function Ended({ lately, history }) {
  const [of, setOf] = useState({ days: 1 });
  const past = usePoll(of.days > 1 ? 'problems' : '', { since: of.since, open: false }, 60000);
  const ended = of.days > 1 ? items(past) : lately, most = of.days > 1 ? 500 : 50;
  const choose = (e) => setOf({ days: Number(e.target.value), since: new Date(Date.now() - 86400e3 * e.target.value).toISOString().replace(/\.\d+/, '') });
  if (!lately.length && !history) return null;
  return html`<h2>Over, in the last ${history ? html`<select id="over-days" aria-label="how long ago" value=${of.days} onChange=${choose}><option value="1">24 hours</option><option value="7">7 days</option><option value="31">31 days</option></select>` : '24 hours'}</h2>
    ${of.days > 1 && html`<${State} poll=${past} rows=${ended.length} empty="Nothing was wrong." />`}
    ${(past.data?.partial || []).filter((x) => x.sink === 'clickhouse').map((x) => html`<p class="state bad">What the sinks do not remember is missing: ${x.why}</p>`)}
    <ul class="problems over">${ended.slice(0, most).map((p) => html`<${Over} key=${p.id} p=${p} />`)}</ul>
    ${ended.length > most && html`<p class="quiet">And ${count(ended.length - most)} older ones: intsink problems ${of.days > 1 ? `--since ${24 * of.days}h` : '--all'}</p>`}`;
}

function Well({ a, status, rates }) {
  const flows = status ? status.workers.reduce((n, w) => n + w.flows, 0) : null;
  const looked = [flows != null && `${count(flows)} flows`, rates.total != null && `${count(rates.total)} packets/s`, `${count(sum(a.looked.signs))} counters and states`].filter(Boolean);
  const lacking = Object.entries((status && status.lacking) || {}).filter(([, n]) => n > 0).map(([what, n]) => `${what.replace(/_/g, ' ')} in that of ${count(n)} new flows`);
  return html`<div class="state well"><p class="large"><${Mark} is="well" /> Nothing is wrong</p><p>Looked at ${looked.join(', ')}: ${ago(a.looked.at)}.${lacking.length > 0 && ` Not looked at is what INT did not carry: ${lacking.join(', ')}.`}</p></div>`;
}

// Here are the problems that are open at what a view shows.
export function Here({ problems, is }) {
  const open = items(problems).filter((p) => !p.until && is(p));
  return open.length > 0 && html`<ul class="problems" aria-label="what is wrong here">${open.map((p) => html`<${Problem} key=${p.id} p=${p} />`)}</ul>`;
}

function Problem({ p }) {
  const e = p.evidence;
  return html`<li class=${p.severity}>
    <div class="first"><${Mark} is=${p.severity === 'error' ? 'high' : 'raised'} /> <b class="kind">${kind(p)}</b>
      <a class="place" href=${viewOf(p)}>${where(p)}</a>
      ${p.value != null && html`<span class="value"><b>${amount(p.value, p.unit)}</b>${p.usual ? ` ${times(p.value / p.usual)} its usual ${amount(p.usual, p.unit)}` : ''}</span>`}
      <${Lately} p=${p} />
      <span class="since">since ${at(p.again || p.since)}, for ${lasts(p.again || p.since)}${p.again ? `; first ${at(p.since)}` : ''}${often(p, Date.now(), 'in all')}</span></div>
    ${(e.culprits || []).length > 0 && html`<div><${Who} e=${e} to=${viewOf(p)} /></div>`}
    <div>${upper(p.what)}. ${e.from && html`For example from <b>${wayName(e.from)}</b> to <b>${wayName(e.to)}</b>. `}<span class="quiet">${e.why ? upper(e.why).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, at) + '. ' : ''}${upper(p.todo)}.</span></div>
    ${(e.sinks || []).length > 0 && html`<div class="quiet">Told by ${e.sinks.map((x, i) => html`${i ? ', ' : ''}<a href=${x.url + '#now'} target="_blank" rel="noreferrer">${x.sink}</a>`)}.</div>`}
    ${(e.flows || []).length > 0 && html`<details><summary>${e.flows.length} of its flows</summary>${e.flows.map((f) => html`<${Flow} key=${f} id=${f} /> `)}</details>`}
    <${Was} of=${asks(p)} /></li>`;
}

// asks are the questions whether it was the network that a problem of the network suggests: of its node, and of who waits. Of one that is over, in
// its time, of which a day can be asked at once.
function asks(p) {
  const minute = 60e3, iso = (ms) => new Date(ms).toISOString().replace(/\.\d+/, '');
  const until = Date.parse(p.until), now = Date.now(), remembered = until > now - 1430 * minute; // by the sink itself
  const from = Math.max(Date.parse(p.since) - minute, (remembered ? now : until) - 1438 * minute);
  const time = p.until ? `&from=${iso(from)}&to=${iso(Math.min(until + minute, now))}` : '';
  const node = part(p, 'node') ?? part(p, 'from'), flow = p.evidence.victims?.[0]?.flow ?? p.evidence.flows?.[0];
  const { source, destination } = matchOf(flow || '');
  return { ...(node && { [`node=${node}${time}`]: `at node ${nodeName(node)}` }), ...(source && { [`flow=${source},${destination}${time}`]: `for ${source} to ${destination}` }) };
}

function Who({ e, to }) {
  const c = e.culprits[0], n = (e.victims || []).length;
  return html`Filled by ${c.flow ? html`<${Flow} id=${c.flow} />` : html`many flows of <b>${c.host}</b>`}: <b>${percent(c.share)}</b> of its bytes${e.other_bytes > 0 ? `, flows without a record ${percent(e.other_bytes / e.bytes)}` : ''}. <a href=${to}>Who else, and who waits</a>${n ? `: ${n} flows or more` : ''}.`;
}

const Over = ({ p, of = asks(p) }) => html`<li><span class="first"><${Mark} is="over" /> <b class="kind">${kind(p)}</b> <a class="place" href=${viewOf(p)}>${where(p) || p.what}</a>
  ${p.value != null && html`<span class="value"><b>${amount(p.value, p.unit)}</b>${p.usual ? ` ${times(p.value / p.usual)} its usual` : ''}</span>`}
  ${(p.evidence.culprits || []).length > 0 && html`<span>filled by ${p.evidence.culprits[0].flow ? html`<${Flow} id=${p.evidence.culprits[0].flow} />` : `many flows of ${p.evidence.culprits[0].host}`}</span>`}
  <span class="since">${at(p.since)}, lasted ${lasts(p.since, Date.parse(p.until))}${often(p, Date.parse(p.until))}, over ${ago(p.until)}</span></span>
  ${Object.keys(of).length > 0 && html`<details><summary>${upper(p.what)}</summary><${Was} of=${of} /></details>`}</li>`;

// often says how many times p came and went, and how long it was wrong in all.
function often(p, until, all = 'of it') {
  const wrong = p.again && (p.before_ns || 0) / 1e6 + until - Date.parse(p.again);
  return (p.times ? `, ${p.times} times` : '') + (p.again ? `, wrong for ${lasts(0, wrong)} ${all}` : '');
}

// upper begins a sentence, but for a name of a file.
const upper = (text) => text.replace(/^[a-z]+(?=[ ,'])/, (w) => w[0].toUpperCase() + w.slice(1));
export const kind = (p) => p.kind.replace('_between', '').replace(/_/g, ' ');

// where is the place of a problem.
function where(p) {
  const name = (x) => (x.name ? `${x.name} (${x.id})` : ['node', 'from', 'to'].includes(x.what) ? nodeName(x.id) : x.id);
  return p.place.map((x) => `${x.what} ${name(x)}`).join(part(p, 'from') ? ' ' : ', ');
}

export const part = (p, what) => p.place.find((x) => x.what === what)?.id;

// between tells whether a problem is of the way between two nodes.
export const between = (p, from, to) => part(p, 'from') === String(from) && part(p, 'to') === String(to);

// queueOf is the id of the queue that a problem is of, undefined where it is of none.
export function queueOf(p) {
  const q = part(p, 'queue');
  return q === undefined ? undefined : `${part(p, 'node')}:${part(p, 'egress') === '65535' ? '-' : part(p, 'egress') ?? '-'}:${q}`;
}

// viewOf is the address of the view that shows the place of p.
export function viewOf(p) {
  const q = queueOf(p);
  if (q) return '#queues/' + q;
  if (p.place.length === 0) return p.evidence.flows ? '#flows' : '#sink';
  const named = { node: '#queues/?node=' + part(p, 'node'), from: `#segments/?link=${part(p, 'from')}-${part(p, 'to')}`, flow: '#flows/' + part(p, 'flow') };
  return named[p.place[0].what] || { link: '#links', port: '#links' }[p.place[0].what] || '#sink';
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
