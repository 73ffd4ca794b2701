// Numbers, times and names as people read them.

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
  return `${Math.floor(seconds / 3600)} h`;
}

// ago shows how long before now a time was.
export function ago(time, now = Date.now()) {
  if (!time) return 'never';
  return now - new Date(time) < 1000 ? 'now' : `${lasts(time, now)} ago`;
}

// clock shows the time of day of a time, to the millisecond.
export function clock(time) {
  const d = new Date(time);
  const two = (n) => String(n).padStart(2, '0');
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, '0')}`;
}

// sum adds the values of an object.
export const sum = (o) => Object.values(o || {}).reduce((a, b) => a + b, 0);

// nonzero lists the entries of an object of counters that are not 0, largest first.
export const nonzero = (o) => Object.entries(o || {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);

// heat is one of 8 classes of colour for value between low and high.
export function heat(value, low, high) {
  if (value == null) return 'heat-none';
  if (high <= low) return 'heat-0';
  return 'heat-' + Math.max(0, Math.min(7, Math.floor((8 * (value - low)) / (high - low))));
}
