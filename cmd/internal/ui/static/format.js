const units = [[1e9, ' s'], [1e6, ' ms'], [1e3, ' µs'], [1, ' ns']];

// ns shows a duration in nanoseconds with three digits.
export function ns(value) {
  if (value == null) return '–';
  if (value === 0) return '0';
  const [size, name] = units.find(([s]) => Math.abs(value) >= s) || units[3];
  return digits(value / size) + name;
}

// count shows a large number shortly: 1.23 M.
export function count(value) {
  if (value == null) return '–';
  for (const [size, name] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e4, ' k']]) {
    if (value >= size) return digits(value / (name === ' k' ? 1e3 : size)) + name;
  }
  return digits(value);
}

export const amount = (v, unit) => (unit === 'ns' ? ns(v) : `${count(v)} ${unit || ''}`.trim());

// times shows how many times its usual value something is.
export const times = (r) => (r == null ? '–' : `${r < 10 ? r.toFixed(1) : count(Math.round(r))} ×`);

export const percent = (x) => `${x < 0.095 && x > 0 ? (100 * x).toFixed(1) : Math.round(100 * x)} %`;

function digits(value) {
  const a = Math.abs(value);
  if (a >= 100 || Number.isInteger(value)) return Math.round(value).toString();
  return value.toFixed(a >= 10 ? 1 : 2);
}

// lasts shows how long it is from a time until now.
export function lasts(time, now = Date.now()) {
  const seconds = Math.max(0, (now - new Date(time)) / 1000);
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

// ago shows how long before now a time was.
export function ago(time, now = Date.now()) {
  if (!time) return 'never';
  return now - new Date(time) < 1000 ? 'now' : `${lasts(time, now)} ago`;
}

const two = (n) => String(n).padStart(2, '0');

// clock shows the time of day of a time, UTC as everywhere in intsink, to the millisecond; hms to the second.
export const hms = (time) => clock(time).slice(0, 8);
export function clock(time) {
  const d = new Date(time);
  return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}.${String(d.getUTCMilliseconds()).padStart(3, '0')}`;
}

// at is a time of the last day as hms, an older one with its date.
export const at = (time) => (Date.now() - Date.parse(time) > 864e5 ? new Date(time).toISOString().slice(0, 10) + ' ' : '') + hms(time);

export const sum = (o) => Object.values(o || {}).reduce((a, b) => a + b, 0);

// nonzero lists the entries of an object of counters that are not 0, largest first.
export const nonzero = (o) => Object.entries(o || {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);

// ratio is null where one of the two is not known.
export const ratio = (value, usual) => (value == null || !usual ? null : value / usual);

// level is the class of colour for a ratio: as usual up to 2 times, then raised, then high. Values that one
// packet in a hundred has without any trouble are as usual, too, and none is high below the floor of what is slow.
export function level(value, usual) {
  const r = ratio(value, usual && usual.latency_ns);
  if (r == null) return 'unknown';
  if (r <= 2 || value <= (usual.latency_p99_ns || 0)) return 'usual';
  return r <= 8 || value < (usual.floor_ns || 0) ? 'raised' : 'high';
}
