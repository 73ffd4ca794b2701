// Events as they happen: the last 100 of each kind, so that congestion hides nothing else; what could not be shown is counted.
import { html, useState, useEffect } from './vendor/htm-preact-3.1.1.js';
import { Nodes, Flow } from './parts.js';
import { clock, count, nonzero } from './format.js';

const keep = 500; // at most between two drawings
const keepOfKind = 100;

// newest leaves out those that are too many of a kind.
function newest(items) {
  const count = {};
  return items.filter((e) => {
    const kind = e.events.join();
    count[kind] = (count[kind] || 0) + 1;
    return count[kind] <= keepOfKind;
  });
}

// useEvents holds the stream open while the page is there: {items, missed, state}.
export function useEvents() {
  const [events, setEvents] = useState({ items: [], missed: 0, state: 'connecting' });
  useEffect(() => {
    const source = new EventSource('../api/v1/events');
    let waiting = [];
    let missed = 0;
    const flush = setInterval(() => {
      if (!waiting.length && !missed) return;
      const [items, lost] = [waiting.reverse(), missed];
      waiting = [];
      missed = 0;
      setEvents((old) => ({ ...old, items: newest([...items, ...old.items]), missed: old.missed + lost }));
    }, 500);
    const state = (s) => setEvents((old) => ({ ...old, state: s }));
    source.addEventListener('open', () => state('open'));
    source.addEventListener('error', () => state(source.readyState === EventSource.CLOSED ? 'closed' : 'connecting'));
    source.addEventListener('report', (e) => { waiting.push(JSON.parse(e.data)); if (waiting.length > keep) waiting = newest(waiting.reverse()).reverse(); });
    source.addEventListener('missed', (e) => { missed += JSON.parse(e.data).count; });
    return () => { source.close(); clearInterval(flush); };
  }, []);
  return events;
}

// shows tells whether the filter shows a report of these events: by default not those that say only that a flow is still there.
const shows = (only, names) => only === 'all' || (only ? names.includes(only) : names.some((n) => n !== 'refresh'));

export function Events({ events, status, problems }) {
  const open = problems.data ? problems.data.totals.open : 0;
  const [only, setOnly] = useState('');
  const items = events.items.filter((e) => shows(only, e.events));
  const names = [...new Set(events.items.flatMap((e) => e.events))].sort();
  return html`<form class="filters" onSubmit=${(e) => e.preventDefault()}>
      <label>event <select id="event-only" value=${only} onChange=${(e) => setOnly(e.target.value)}><option value="">all but refresh</option><option value="all">all</option>${names.map((n) => html`<option value=${n}>${n}</option>`)}</select></label>
      <span class="quiet">stream ${events.state}${events.missed ? `; ${count(events.missed)} not shown: too many at once` : ''}</span></form>
    ${status.data && html`<p>${nonzero(status.data.events).map(([n, c]) => html`<span class="chip"><code>${n}</code> ${count(c)}</span>`)}</p>`}
    ${events.state === 'closed' && html`<p class="state bad">The sink refused the stream: too many pages are open, or events need a newer sink. Reload the page to try again.</p>`}
    ${!items.length && html`<p class="state">No such event since this page was opened: here stands what is reported from then on, of what watch { events } asks for. ${open > 0 && html`<a href="#now">${open} ${open > 1 ? 'problems are' : 'problem is'} open.</a>`}</p>`}
    ${items.length > 0 && html`<div class="scroll" role="region" aria-label="events" tabindex="0"><table><caption>Events, newest first</caption>
      <thead><tr><th scope="col">time</th><th scope="col">events</th><th scope="col">flow or place</th><th scope="col">path</th></tr></thead>
      <tbody>${items.slice(0, 300).map((e) => html`<tr><td><time>${clock(e.time)}</time></td><td>${e.events.map((n) => html`<span class=${'chip event-' + n}>${n}</span>`)}</td>
        <td>${e.flow ? html`<${Flow} id=${e.flow} />` : e.place || ''}</td><td><${Nodes} nodes=${e.nodes || []} /></td></tr>`)}</tbody></table></div>`}`;
}
