// Act: what changes something, for who has a token: captures, and rules that drop packets; each is confirmed first.
import { html, useState, useRef, useEffect } from './vendor/htm-preact-3.1.1.js';
import { usePoll, send, stream, setToken, hasToken } from './api.js';
import { Table, matchOf, num } from './parts.js';
import { ago, count } from './format.js';

export function Act({ rest, status }) {
  const [, draw] = useState(0);
  const [ask, setAsk] = useState(null);
  return html`<section class="panel"><h2>Your token</h2>
      <p>Captures and rules take a token with <code>role = "write"</code> (<code>http { token }</code> in the configuration). It stays in this page, and is forgotten when you leave it.</p>
      <details><summary>How to get one</summary><p>On the sink, <code>T=$(openssl rand -hex 32); echo $T; printf %s $T | sha256sum</code> prints a token and its sum. The sum goes into <code>http</code> of the configuration:</p>
      <pre>${'token "me" {\n  sha256 = "SUM"\n  role   = "write"\n}'}</pre><p>Then <code>intsink reload</code>. The playground has none: give a copy of its configuration to <code>make playground CONFIG=FILE</code>. Without one, on the sink: <code>intsink capture</code>.</p></details>
      <form onSubmit=${(e) => e.preventDefault()}><label>token <input id="token" type="password" autocomplete="off" size="40" onInput=${(e) => { setToken(e.target.value); draw(Date.now()); }} /></label></form></section>
    <div class="split">
      <${Capture} flow=${rest} confirm=${setAsk} links=${status.data ? status.data.links.map((l) => l.name) : []} />
      <${Rules} flow=${rest} confirm=${setAsk} /></div>
    <p class="quiet">Who asked for what stands in <a href="#sink">Sink</a>, and in the log.</p>
    ${ask && html`<${Confirm} ...${ask} close=${() => setAsk(null)} />`}`;
}

function Confirm({ text, act, close }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="sure"><p id="sure">${text}</p>
    <p class="buttons"><button type="button" id="yes" class="main" onClick=${() => { close(); act(); }}>Do it</button> <button type="button" onClick=${close}>Leave it</button></p></dialog>`;
}

const fields = [['source', 'source address or prefix'], ['destination', 'destination address or prefix'], ['protocol', 'protocol'], ['source_port', 'source port'], ['destination_port', 'destination port']];

const Match = ({ of, match, set }) => html`<div class="fields">${fields.map(([name, title]) => html`<label>${title} <input id=${`${of}-${name}`} value=${match[name] || ''} onInput=${(e) => set({ ...match, [name]: e.target.value.trim() })} /></label>`)}</div>`;

const filled = (match) => Object.fromEntries(Object.entries(match).filter(([, v]) => v));
const says = (match) => Object.entries(filled(match)).map(([k, v]) => `${k.replace('_', ' ')} ${v}`).join(', ');
const Disabled = () => !hasToken() && html` <span class="quiet">needs a token</span>`;

function Capture({ flow, confirm, links }) {
  const [match, setMatch] = useState(matchOf(flow));
  const [seconds, setSeconds] = useState('10');
  const [state, setState] = useState(null);
  const running = useRef(null);
  const act = async () => {
    running.current = new AbortController();
    const chunks = [];
    let size = 0;
    const save = () => {
      const a = document.createElement('a');
      a.href = URL.createObjectURL(new Blob(chunks));
      a.download = `intsink-${new Date().toISOString().slice(0, 19).replace(/:/g, '')}.pcapng`;
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 60000);
      setState({ text: `${count(size)}B saved as ${a.download}` });
    };
    try {
      setState({ text: 'asking …' });
      const answer = await stream('capture', { ...(says(match) && { match: filled(match) }), seconds: Number(seconds), both_ways: true }, running.current.signal);
      const reader = answer.body.getReader();
      for (let r = await reader.read(); !r.done && size < 256e6; r = await reader.read()) {
        chunks.push(r.value);
        size += r.value.length;
        setState({ text: `${count(size)}B`, runs: true });
      }
      running.current.abort(); // where it was cut by its size
      save();
    } catch (e) {
      if (chunks.length && e.name === 'AbortError') save();
      else setState({ text: e.message, bad: true });
    }
  };
  return html`<section class="panel"><h2>Capture packets</h2>
    <p>Packets before and after INT is removed, as pcapng, up to 256 MB.</p>
    <${Match} of="capture" match=${match} set=${setMatch} />
    <p><label>seconds <input id="capture-seconds" type="number" min="1" max="3600" value=${seconds} onInput=${(e) => setSeconds(e.target.value)} /></label></p>
    <p><button type="button" id="capture" disabled=${!hasToken() || state?.runs} onClick=${() => confirm({ text: `Capture ${says(match) || 'all packets'}, on ${links.join(', ') || 'all links'}, for ${seconds} seconds? The file shows what is in packets.`, act })}>Capture</button>
      ${state?.runs && html` <button type="button" onClick=${() => running.current.abort()}>Stop</button>`}<${Disabled} /></p>
    <p role="status" class=${state?.bad ? 'wrong' : 'quiet'}>${state?.text}</p></section>`;
}

function Rules({ flow, confirm }) {
  const rules = usePoll('mitigations', {}, 3000);
  const [match, setMatch] = useState(matchOf(flow));
  const [action, setAction] = useState('count');
  const [ttl, setTTL] = useState('10m');
  const [state, setState] = useState(null);
  const told = (done) => ({ data, error }) => setState(error ? { text: error, bad: true } : { text: `${done} rule ${data.id}` });
  const add = () => send('POST', 'mitigations', { match: filled(match), action, ttl, comment: 'by the page' }).then(told('added'));
  const remove = (id) => send('DELETE', 'mitigations/' + id).then(told('removed'));
  const words = { count: 'Count', drop: 'Drop' };
  return html`<section class="panel"><h2>Drop or count packets</h2>
    <p>A rule for packets on their way to the hosts, on links with <code>mitigation = true</code>. It ends by itself.</p>
    <${Match} of="rule" match=${match} set=${setMatch} />
    <p><label>what <select id="rule-action" value=${action} onChange=${(e) => setAction(e.target.value)}><option value="count">count them</option><option value="drop">drop them</option></select></label>
      <label> for <input id="rule-ttl" size="6" value=${ttl} onInput=${(e) => setTTL(e.target.value.trim())} /></label></p>
    <p><button type="button" id="rule" disabled=${!hasToken() || !says(match)} onClick=${() => confirm({ text: `${words[action]} packets with ${says(match)}, for ${ttl}?${action === 'drop' ? ' Hosts will not get them.' : ''}`, act: add })}>Add the rule</button><${Disabled} /></p>
    <p role="status" class=${state?.bad ? 'wrong' : 'quiet'}>${state?.text}</p>
    ${rules.data && rules.data.rules.length > 0 && html`<${Table} caption="Rules" id=${(r) => r.id} rows=${rules.data.rules} columns=${[
      { name: 'rule', value: (r) => r.id, cell: (r) => html`<b>${r.id}</b> ${r.action} <code>${Object.entries(r.match).map(([k, v]) => `${k}=${v}`).join(' ')}</code>` },
      num('packets', 'packets'),
      num('dropped', 'dropped_packets'),
      { name: 'by', value: (r) => r.by, cell: (r) => html`${r.by} <span class="quiet">${ago(r.created)}</span>` },
      { name: '', cell: (r) => html`<button type="button" disabled=${!hasToken()} onClick=${() => confirm({ text: `Remove rule ${r.id}?`, act: () => remove(r.id) })}>Remove<span class="hidden"> rule ${r.id}</span></button>` },
    ]} />`}</section>`;
}
