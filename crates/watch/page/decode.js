// Checks what comes from the stream. A field of a wrong shape is left out and noted, so that
// the other files can rely on types and lengths. All of it comes from untrusted nodes.
(function (watch) {
  "use strict";

  const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
    "-_!#$%()*+,./:;=?@[]^{|}~";
  const MOST_AGENTS = 20000;
  const MOST_METRICS = 16;
  // Control characters and those that change the direction of the text around them.
  const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

  watch.problems = { count: 0, last: "" };

  /** Notes a malformed part of the stream for the line at the bottom of the page. */
  watch.problem = function (text) {
    watch.problems.count += 1;
    watch.problems.last = text;
  };

  const isObject = x => typeof x === "object" && x !== null && !Array.isArray(x);
  // Larger numbers than this mean nothing here and would only spoil axes.
  const isNumber = x => typeof x === "number" && Math.abs(x) < 1e15;
  const isLog = x => isNumber(x) && Math.abs(x) <= 32000;
  const isIndex = (x, end) => Number.isInteger(x) && x >= 0 && x < end;

  watch.clean = (text, most) => String(text).replace(CONTROL, "·").slice(0, most || 120);

  /** Takes `raw[key]` if `test` accepts it; null counts as missing, anything else is noted. */
  function take(raw, key, test, part) {
    const value = raw[key];
    if (value === undefined || value === null) return undefined;
    if (test(value)) return value;
    watch.problem(part + "." + key + " is malformed");
    return undefined;
  }

  watch.decodeHello = function (raw) {
    if (!isObject(raw) || !isIndex(raw.agents, MOST_AGENTS + 1) || raw.agents < 1) {
      watch.problem("hello.agents must be a number from 1 to " + MOST_AGENTS);
      return null;
    }
    if (raw.v !== 1) watch.problem("hello.v is " + watch.clean(raw.v, 12) + ", expected 1");
    const hello = { agents: raw.agents };
    for (const key of ["run", "problem", "method", "topology", "metric", "unit"]) {
      const text = take(raw, key, x => typeof x === "string", "hello");
      if (text) hello[key] = watch.clean(text);
    }
    for (const key of ["rounds", "tick", "loss", "target", "every"]) {
      hello[key] = take(raw, key, x => isNumber(x) && x >= 0, "hello");
    }
    hello.source = take(raw, "source", x => ["nodes", "run", "seed"].includes(x), "hello");
    hello.clock = take(raw, "clock", x => ["s", "ticks", "rounds"].includes(x), "hello") || "s";
    hello.edges = take(raw, "edges", Array.isArray, "hello") || [];
    const long = x => typeof x === "string" && x.length >= 64;
    hello.alphabet = take(raw, "alphabet", long, "hello") || ALPHABET;
    const full = x => Array.isArray(x) && x.length === raw.agents;
    const names = take(raw, "names", full, "hello");
    if (names) hello.names = names.map(name => watch.clean(name, 64));
    return hello;
  };

  /** One number an agent; null means not known and becomes NaN. */
  function perAgent(list, n, Type, test) {
    if (!Array.isArray(list) || list.length !== n) return undefined;
    const out = new Type(n);
    for (let a = 0; a < n; a += 1) {
      if (list[a] !== null && !test(list[a])) return undefined;
      out[a] = list[a] === null ? NaN : list[a];
    }
    return out;
  }

  /** Times of the parts of rounds; the number of characters must agree with the rounds. */
  function decodeTimes(w, n) {
    if (!isObject(w) || typeof w.x !== "string") return undefined;
    let agents = null;
    if (w.a !== undefined) {
      if (!Array.isArray(w.a) || !w.a.every(a => isIndex(a, n))) return undefined;
      agents = w.a;
    }
    const rows = agents ? agents.length : n;
    const counts = Array.isArray(w.n) ? w.n : new Array(rows).fill(w.n);
    if (counts.length !== rows || !counts.every(c => isIndex(c, 1e6))) return undefined;
    const start = [];
    let sum = 0;
    for (const c of counts) {
      start.push(sum * 4);
      sum += c;
    }
    return sum * 4 === w.x.length ? { agents, counts, start, text: w.x } : undefined;
  }

  /** Edges of the round: a range [first, end] or a list {i: [...]}, as a list of indices. */
  function decodeRound(q, edges) {
    if (Array.isArray(q)) {
      const [first, end] = q;
      if (q.length !== 2 || !isIndex(first, edges + 1) || !isIndex(end, edges + 1)) {
        return undefined;
      }
      return end >= first ? { first, end } : undefined;
    }
    if (!isObject(q) || !Array.isArray(q.i)) return undefined;
    return q.i.every(e => isIndex(e, edges)) ? { list: q.i } : undefined;
  }

  function decodeParked(p, edges) {
    const pair = x => Array.isArray(x) && x.length === 2 && isIndex(x[0], edges) && isNumber(x[1]);
    return Array.isArray(p) && p.every(pair) ? p : undefined;
  }

  function decodeMetrics(mm) {
    if (!isObject(mm)) return undefined;
    const out = {};
    for (const name of Object.keys(mm).slice(0, MOST_METRICS)) {
      if (isNumber(mm[name])) out[watch.clean(name, 64)] = mm[name];
      else if (mm[name] !== null) watch.problem("frame.mm has a value that is no number");
    }
    return out;
  }

  /** The checked frame, or null without time and round. New edges must be added before. */
  watch.decodeFrame = function (raw, run) {
    if (!isObject(raw) || !isNumber(raw.t) || !isNumber(raw.k)) {
      watch.problem("a frame has no t or no k");
      return null;
    }
    const n = run.n;
    const edges = run.from.length;
    const frame = { t: raw.t, k: raw.k };
    const put = (key, decode) => {
      if (raw[key] === undefined || raw[key] === null) return;
      const value = decode(raw[key]);
      if (value === undefined) watch.problem("frame." + key + " is malformed in round " + raw.k);
      else frame[key] = value;
    };
    const letters = x => (typeof x === "string" && x.length === n ? x : undefined);
    const number = x => (isNumber(x) ? x : undefined);
    const oneOrAll = x => (isNumber(x) ? x : perAgent(x, n, Float64Array, isNumber));
    const ages = x => (typeof x === "string" && x.length <= edges ? x : undefined);
    for (const key of ["s", "v"]) put(key, letters);
    for (const key of ["e", "d"]) put(key, x => perAgent(x, n, Float32Array, isLog));
    for (const key of ["r", "a", "c"]) put(key, x => perAgent(x, n, Float32Array, isNumber));
    for (const key of ["ep", "li", "h", "rf"]) put(key, oneOrAll);
    for (const key of ["b", "m", "mx"]) put(key, number);
    put("x0", x => (isLog(x) ? x : undefined));
    put("g", ages);
    put("q", x => decodeRound(x, edges));
    put("p", x => decodeParked(x, edges));
    put("w", x => decodeTimes(x, n));
    put("mm", decodeMetrics);
    return frame;
  };

  const EVENT_NUMBERS = ["t", "k", "life", "epoch", "mass", "until"];

  /** The checked event, with all its other fields as text, or null without time and kind. */
  watch.decodeEvent = function (raw, run) {
    if (!isObject(raw) || !isNumber(raw.t) || typeof raw.kind !== "string") {
      watch.problem("an event has no t or no kind");
      return null;
    }
    const event = { kind: watch.clean(raw.kind, 40), fields: [] };
    for (const key of EVENT_NUMBERS) event[key] = take(raw, key, isNumber, "event");
    for (const key of ["agent", "other"]) {
      event[key] = take(raw, key, x => isIndex(x, run.n), "event");
    }
    for (const key of ["reason", "text"]) {
      const text = take(raw, key, x => typeof x === "string", "event");
      if (text !== undefined) event[key] = watch.clean(text, 200);
    }
    const side = x => isIndex(x, run.n + 1) ||
      (Array.isArray(x) && x.length > 0 && x.every(a => isIndex(a, run.n)));
    event.side = take(raw, "side", side, "event");
    for (const key of Object.keys(raw).slice(0, 24)) {
      if (key === "t" || key === "k" || key === "kind") continue;
      const value = typeof raw[key] === "string" ? raw[key] : JSON.stringify(raw[key]);
      event.fields.push([watch.clean(key, 40), watch.clean(value, 200)]);
    }
    return event;
  };
})(watch);
