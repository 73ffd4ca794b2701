// Rates out of the counters of /api/v1/status: what changed between two answers.
import { useRef } from './vendor/htm-preact-3.1.1.js';
import { sum } from './format.js';

// useRates returns {total, links: {"name direction": {received, forwarded, dropped}},
// ports: {name: {rx, tx}} in bits a second} for the status s.
export function useRates(s) {
  const memory = useRef({ before: null, now: { total: null, links: {}, ports: {} } });
  const m = memory.current;
  if (!s || m.before === s) return m.now;
  const old = m.before;
  m.before = s;
  const seconds = old ? (Date.parse(s.now) - Date.parse(old.now)) / 1000 : 0;
  if (!old || seconds <= 0 || s.started !== old.started) return m.now;
  const links = {}, ports = {};
  let total = 0;
  const rate = (n, o) => Math.max(0, n - o) / seconds;
  for (const p of s.ports) {
    const b = old.ports.find((x) => x.name === p.name);
    if (b) ports[p.name] = { rx: 8 * rate(p.rx_bytes, b.rx_bytes), tx: 8 * rate(p.tx_bytes, b.tx_bytes) };
  }
  for (const link of s.links) {
    const before = old.links.find((l) => l.name === link.name);
    for (const d of link.directions) {
      const b = before && before.directions.find((x) => x.direction === d.direction);
      if (!b) continue;
      const r = { received: rate(d.received, b.received), forwarded: rate(d.forwarded, b.forwarded), dropped: rate(sum(d.dropped), sum(b.dropped)) };
      links[`${link.name} ${d.direction}`] = r;
      total += r.received;
    }
  }
  m.now = { total, links, ports };
  return m.now;
}
