// Requests to the sink's own API: one at a time, as it answers, and none while the page is hidden.
import { useState, useEffect } from './vendor/htm-preact-3.1.1.js';

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let last = Promise.resolve();

// get returns the JSON of /api/v1/<path>. Parameters that are empty are left out.
export function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== '' && v != null));
  const url = `../api/v1/${path}${query.size ? '?' + query : ''}`;
  const answer = last.then(() => request(url));
  last = answer.catch(() => {});
  return answer;
}

async function request(url) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ApiError('no answer within 15 seconds', 0)), 15000);
  });
  try { // not left to the browser alone: a request that it never ends would hold up all others
    return await Promise.race([answerOf(url, { signal: AbortSignal.timeout(15000), cache: 'no-store', headers: { Accept: 'application/json' } }), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function answerOf(url, options) {
  let response, body;
  try {
    response = await fetch(url, options);
    body = await response.text();
  } catch (e) {
    throw new ApiError(e.name === 'TimeoutError' ? 'no answer within 15 seconds' : 'the sink cannot be reached', 0);
  }
  const data = parsed(body);
  if (!response.ok || !data) throw new ApiError(data?.error || `the sink answered ${response.status}`, response.status);
  return data;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// The token that lets this page change something: in memory alone, gone when the page is left.
let token = '';
export const setToken = (t) => { token = t.trim(); };
export const hasToken = () => token !== '';
const asked = (method, body) => ({ method, body: body && JSON.stringify(body), headers: { Authorization: 'Bearer ' + token, ...(body && { 'Content-Type': 'application/json' }) }, cache: 'no-store' });

// send asks the sink to change something: {data} or {error}.
export const send = (method, path, body) => answerOf('../api/v1/' + path, asked(method, body)).then((data) => ({ data }), (error) => ({ error: error.message }));

// stream is the answer to a request for a file, which goes on until signal, or the sink, ends it.
export async function stream(path, body, signal) {
  const response = await fetch('../api/v1/' + path, { ...asked('POST', body), signal });
  if (!response.ok) throw new ApiError(parsed(await response.text())?.error || `the sink answered ${response.status}`, response.status);
  return response;
}

// usePoll asks every `every` milliseconds while the page is visible; an empty path asks nothing. Data stays when a later request fails.
export function usePoll(path, parameters = {}, every = 2000) {
  const [state, setState] = useState({ data: null, error: null, at: 0 });
  const key = path + JSON.stringify(parameters);
  useEffect(() => {
    let ended = false;
    let timer = null;
    const ask = async () => {
      if (path && !document.hidden) {
        try {
          const data = await get(path, parameters);
          if (!ended) setState({ data, error: null, at: Date.now() });
        } catch (error) {
          if (!ended) setState((old) => ({ ...old, error }));
        }
      }
      if (!ended) timer = setTimeout(ask, every);
    };
    setState({ data: null, error: null, at: 0 });
    ask();
    return () => { ended = true; clearTimeout(timer); };
  }, [key, every]);
  return state;
}

export const items = (poll) => (poll.data ? poll.data.items : []);
