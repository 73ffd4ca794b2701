// What is in force for now only, a line each, as intsink status shows it.
import { html } from './vendor/htm-preact-3.1.1.js';

export function Notices({ status }) {
  const lines = status ? notices(status) : [];
  return html`<div role="status">${lines.map((line) => html`<p class="notice" key=${line}>${line}</p>`)}</div>`;
}

function notices({ mode, config, partial }) {
  const lines = (partial || []).map((p) => `without sink ${p.sink}: ${p.why}`);
  if (mode && mode.mode !== 'full') lines.push(`mode ${mode.mode} since ${when(mode.since)}: ${mode.why}`);
  if (mode && mode.switch && (mode.switch.state !== 'inline' || mode.switch.error)) {
    const { state, why, error } = mode.switch;
    lines.push(`bypass switch: ${state}` + (why ? `: ${why}` : '') + (error ? `; its command failed: ${error}` : ''));
  }
  const trial = config && config.trial;
  if (trial) lines.push(`on trial: ${trial.program || `generation ${trial.back_to}`} comes back at ${when(trial.until)} unless intsink confirm comes`);
  const ended = config && config.last_trial;
  if (ended && ended.result !== 'confirmed' && config.generation === ended.generation + 1) {
    lines.push(`${ended.tried || `generation ${ended.generation}`} was on trial, and ${ended.program || `generation ${ended.back_to}`} came back at ${when(ended.ended)}: ${ended.why}`);
  }
  return lines;
}

// when is the time as intsink status and the log write it, without fractions of a second.
const when = (time) => time.replace(/\.\d+/, '');
