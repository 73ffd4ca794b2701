// The page: header with the sink's state, tabs, and one view at a time, which stands in the address (#flows).
import { html, render, useState, useEffect } from './vendor/htm-preact-3.1.1.js';
import { usePoll, items } from './api.js';
import { useRates } from './rates.js';
import { Now, useTitle, viewOf } from './now.js';
import { Links } from './links.js';
import { Flows } from './flows.js';
import { Paths } from './paths.js';
import { Queues } from './queues.js';
import { Segments } from './segments.js';
import { Events, useEvents } from './events.js';
import { Sink } from './sink.js';
import { Sinks } from './sinks.js';
import { Act } from './act.js';
import { Notices } from './notices.js';
import { names } from './parts.js';
import { count } from './format.js';

const views = [
  ['now', 'Now', Now],
  ['paths', 'Paths', Paths],
  ['queues', 'Queues', Queues],
  ['segments', 'Segments', Segments],
  ['flows', 'Flows', Flows],
  ['events', 'Events', Events],
  ['links', 'Links', Links],
  ['sink', 'Sink', Sink],
  ['act', 'Act', Act],
];

// at splits an address such as #flows/udp:10.0.0.1:1-10.0.0.2:2 into view and rest.
function at(hash) {
  const [name, ...rest] = decodeURIComponent(hash.slice(1)).split('/');
  return { name: views.some(([n]) => n === name) ? name : 'now', rest: rest.join('/') };
}

function App() {
  const [here, setHere] = useState(at(location.hash));
  const status = usePoll('status');
  const problems = usePoll('problems');
  const nodes = usePoll('nodes', {}, 5000);
  const wrong = useTitle(problems);
  const rates = useRates(status.data);
  const events = useEvents();
  const named = usePoll('names', {}, 30000);
  if (named.data) Object.assign(names, named.data);
  names.gone = Object.fromEntries(items(nodes).filter((n) => n.gone).map((n) => [n.node, n]));
  useEffect(() => {
    const changed = () => setHere(at(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const network = !!status.data?.sinks; // over all sinks of a network, by intsink-collect
  const [, , View] = views.find(([n]) => n === here.name);
  return html`<${Header} status=${status} rates=${rates} wrong=${wrong} />
    <${Notices} status=${status.data} />
    <${Tabs} here=${here.name} network=${network} open=${problems.data ? problems.data.items.filter((p) => !p.until) : []} />
    <main><div id="view" role="tabpanel" aria-labelledby=${'tab-' + here.name}>
      <${network && here.name === 'sink' ? Sinks : View} problems=${problems} nodes=${nodes} status=${status} rates=${rates} events=${events} rest=${here.rest} /></div></main>
    <footer>Data of ${network ? 'all sinks' : 'this sink'}, renewed every 2 seconds while the page is visible. Times are UTC. <a href="../api/v1/">API</a> · <a href="../metrics">metrics</a></footer>`;
}

function Header({ status, rates, wrong }) {
  const s = status.data;
  return html`<header>
    <h1><img src="icon.svg" alt="" width="24" height="24" /> intsink</h1>
    ${s && html`<span class="quiet">${s.sinks ? `${s.sinks.filter((x) => x.answers).length} of ${s.sinks.length} sinks` : `node ${s.node}`} · ${s.version}</span>`}
    <${Pill} status=${status} />
    ${wrong > 0 && html`<a class="pill bad wrong" href="#now">${wrong} ${wrong === 1 ? 'problem' : 'problems'}</a>`}
    ${rates.total != null && html`<span class="rate"><b>${count(rates.total)}</b> packets/s</span>`}
    <button type="button" class="theme" onClick=${toggleTheme} aria-label="light or dark" title="light or dark">◐</button>
  </header>`;
}

function Pill({ status }) {
  if (status.error) return html`<span class="pill bad" role="status">no answer</span>`;
  if (!status.data) return html`<span class="pill" role="status">…</span>`;
  const ok = status.data.ready === 'ok';
  return html`<span class=${'pill ' + (ok ? 'good' : 'bad')} role="status">${ok ? 'ready' : status.data.ready}</span>`;
}

function Tabs({ here, open, network }) {
  const shown = views.filter(([n]) => !network || !['act', 'events'].includes(n)); // what changes a sink, and what it reports, is on its own page
  const move = (e) => {
    const i = shown.findIndex(([n]) => n === here);
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: shown.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const name = shown[(to + shown.length) % shown.length][0];
    location.hash = name;
    document.getElementById('tab-' + name).focus();
  };
  const wrong = (name) => (name === 'now' ? open.length : open.filter((p) => viewOf(p).split('/')[0] === '#' + name).length);
  return html`<nav aria-label="views"><div role="tablist" aria-label="views" onKeyDown=${move}>${shown.map(([name, title]) => html`<a role="tab" id=${'tab-' + name}
    href=${'#' + name} aria-selected=${here === name} aria-controls="view" tabindex=${here === name ? 0 : -1}>${network && name === 'sink' ? 'Sinks' : title}${wrong(name) > 0 && html`<span class="badge" aria-label=${`, ${wrong(name)} problems`}>${wrong(name)}</span>`}</a>`)}</div></nav>`;
}

function toggleTheme() {
  localStorage.setItem('theme', document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  setTheme();
}

// The theme is the one that was kept in this browser, or that of the system.
const system = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => { document.documentElement.dataset.theme = localStorage.getItem('theme') || (system.matches ? 'dark' : 'light'); };

setTheme();
system.addEventListener('change', setTheme);
render(html`<${App} />`, document.getElementById('app'));
