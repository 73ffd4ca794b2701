// Charts as SVG: lines over time, bars of an episode; without style attributes, which the Content-Security-Policy forbids.
import { html, useState, useRef, useEffect } from './vendor/htm-preact-3.1.1.js';
import { clock, hms } from './format.js';

const H = 180, left = 64, right = 20, top = 8, bottom = 22;

// useWidth is [ref, how wide its element is]: text in a picture of that width is as large as all other.
export function useWidth() {
  const [box, [width, set]] = [useRef(null), useState(600)];
  useEffect(() => {
    const o = new ResizeObserver(([e]) => requestAnimationFrame(() => set(Math.max(200, Math.round(e.contentRect.width)))));
    o.observe(box.current);
    return () => o.disconnect();
  }, []);
  return [box, width];
}

// ticks are about three round numbers up to high.
function ticks(high) {
  const size = 10 ** Math.floor(Math.log10(high));
  const step = size * ([0.2, 0.5, 1, 2].find((s) => high / (s * size) <= 4) || 2);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

// line is the path of values over times; null is a hole.
function line(times, values, x, y) {
  let down = false;
  return values.map((v, i) => {
    if (v == null) { down = false; return ''; }
    const to = `${down ? 'L' : 'M'}${x(times[i]).toFixed(1)} ${y(v).toFixed(1)}`;
    down = true;
    return to;
  }).join('');
}

// Chart draws series {name: values} over times (seconds) in the last span seconds; show makes a value readable.
export function Chart({ title, times, series, span = 600, show }) {
  const [at, setAt] = useState(null);
  const [box, W] = useWidth();
  const names = Object.keys(series).slice(0, 6);
  const end = times.length ? times[times.length - 1] : Date.now() / 1000;
  const first = times.findIndex((t) => t >= end - span);
  const high = 1.1 * Math.max(1, ...names.flatMap((n) => series[n].slice(Math.max(0, first)).filter((v) => v != null)));
  const x = (t) => left + ((t - end + span) / span) * (W - left - right);
  const y = (v) => top + (1 - v / high) * (H - top - bottom);
  const minutes = Array.from({ length: 6 }, (_, i) => Math.ceil((end - span) / (span / 5)) * (span / 5) + i * (span / 5)).filter((t) => t <= end);
  const move = (e) => {
    const box = e.currentTarget.getBoundingClientRect();
    const t = end - span + (((e.clientX - box.left) / box.width) * W - left) / (W - left - right) * span;
    let best = -1;
    times.forEach((v, i) => { if (best < 0 || Math.abs(v - t) < Math.abs(times[best] - t)) best = i; });
    setAt(best >= 0 && t >= end - span ? best : null);
  };
  const i = at != null && at < times.length ? at : times.length - 1;
  return html`<figure class="chart" ref=${box}><figcaption>${title}</figcaption>
    <svg viewBox=${`0 0 ${W} ${H}`} role="img" aria-label=${`${title}: ${names.map((n) => `${n} ${i < 0 ? 'not known' : show(series[n][i])}`).join(', ')}`} onMouseMove=${move} onMouseLeave=${() => setAt(null)}>
      ${ticks(high).map((v) => html`<g class="tick"><path d=${`M${left} ${y(v)}H${W - right}`} /><text x=${left - 6} y=${y(v) + 4} text-anchor="end">${show(v)}</text></g>`)}
      ${minutes.map((t) => html`<g class="tick"><text x=${x(t)} y=${H - 5} text-anchor="middle">${clock(1000 * t).slice(0, 5)}</text></g>`)}
      ${names.map((n, k) => html`<path class=${'series s' + k} d=${line(times, series[n].map((v, j) => (times[j] < end - span ? null : v)), x, y)} />`)}
      ${at != null && html`<path class="cursor" d=${`M${x(times[i])} ${top}V${H - bottom}`} />`}</svg>
    <ul class="legend">${names.map((n, k) => html`<li><span class=${'key s' + k}></span>${n} <b>${i < 0 ? '–' : show(series[n][i])}</b></li>`)}
      <li class="quiet"><time>${i < 0 ? '' : hms(1000 * times[i])}</time></li></ul></figure>`;
}

export function Spark({ label, times, values }) {
  const high = Math.max(1, ...values), end = times[times.length - 1];
  return html`<svg class="spark" viewBox="0 0 120 20" preserveAspectRatio="none" role="img" aria-label=${label}><path class="series s0" d=${line(times, values, (t) => 119 * (1 - (end - t) / 600), (v) => 18 - (16 * v) / high)} /><title>${label}</title></svg>`;
}

// Bars draws columns of values; over is a line on a scale of its own.
export function Bars({ label, bars, over }) {
  const most = Math.max(1, ...bars), high = Math.max(1, ...over);
  const w = 640 / Math.max(bars.length, 1);
  return html`<svg class="bars" viewBox="0 0 640 120" preserveAspectRatio="none" role="img" aria-label=${label}>
    ${bars.map((v, i) => html`<rect x=${i * w} y=${120 - (110 * v) / most} width=${Math.max(1, w - 1)} height=${(110 * v) / most} />`)}
    <path class="series s1" d=${line(over.map((_, i) => i), over, (i) => (i + 0.5) * w, (v) => 116 - (106 * v) / high)} /></svg>`;
}
