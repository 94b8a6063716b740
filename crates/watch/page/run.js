// The run as far as it is known: edges, frames and events, with bounded memory.
(function (watch) {
  "use strict";

  const CARRIED = ["ep", "li", "h", "rf", "m", "mx"]; // These are sent only when they change.
  const FIELDS = ["s", "v", "r", "e", "d", "a", "c", "b", "q", "g", "p", "w", "x0"]
    .concat(CARRIED);
  const MOST_FRAMES = 4000;
  const MOST_EVENTS = 50000;
  const TRIVIAL = /^(agent|node|n|a)?[-_ ]?0*(\d+)$/i;

  watch.newRun = function (hello) {
    const n = hello.agents;
    const lists = () => Array.from({ length: n }, () => []);
    const trivial = (name, a) => (TRIVIAL.exec(name) || [])[2] === String(a);
    const run = {
      hello, n, clock: hello.clock, frames: [], events: [], from: [], to: [],
      into: lists(), out: lists(), pair: new Map(),
      has: {}, metrics: [], kinds: new Set(),
      version: 0, // This changes with every frame and event,
      told: 0, // and this with every event.
      code: new Map([...hello.alphabet].map((letter, i) => [letter, i])),
      named: Boolean(hello.names) && !hello.names.every(trivial),
      sequence: 0, perRound: 0, roundsCounted: 0,
    };
    watch.addEdges(run, hello.edges);
    return run;
  };

  watch.addEdges = function (run, flat) {
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const [from, to] = [flat[i], flat[i + 1]];
      const fits = x => Number.isInteger(x) && x >= 0 && x < run.n;
      const e = run.from.length;
      if (!fits(from) || !fits(to)) watch.problem("edge " + e + " names an agent out of range");
      run.from.push(fits(from) ? from : -1);
      run.to.push(fits(to) ? to : -1);
      if (!fits(from) || !fits(to)) continue;
      run.out[from].push(e);
      run.into[to].push(e);
      run.pair.set(from * run.n + to, e);
    }
  };

  /** An agent that runs or joins; without states all agents count. */
  watch.isUp = (frame, a) => !frame.s || frame.s[a] === "u" || frame.s[a] === "j";

  watch.isSeen = (frame, a) => !frame.v || frame.v[a] !== "n";

  /** The value of a field that is one number if all agents agree, else one an agent. */
  watch.valueOf = (field, a) => (typeof field === "number" ? field : field ? field[a] : NaN);

  /** Lowest, median and highest value among the agents that are up, and who has the highest. */
  function summary(frame, values) {
    const known = [];
    let who = -1;
    for (let a = 0; a < values.length; a += 1) {
      if (Number.isNaN(values[a]) || !watch.isUp(frame, a)) continue;
      known.push(values[a]);
      if (who < 0 || values[a] > values[who]) who = a;
    }
    if (!known.length) return undefined;
    known.sort((x, y) => x - y);
    return { low: known[0], middle: known[known.length >> 1], high: values[who], who };
  }

  watch.addFrame = function (run, raw) {
    if (raw && Array.isArray(raw.ne)) watch.addEdges(run, raw.ne);
    const frame = watch.decodeFrame(raw, run);
    if (!frame) return;
    const last = run.frames[run.frames.length - 1];
    if (last && frame.t < last.t) {
      watch.problem("a frame goes back in time, to t = " + frame.t);
      return;
    }
    for (const key of CARRIED) {
      if (frame[key] === undefined && last) frame[key] = last[key];
    }
    if (frame.e) frame.first = summary(frame, frame.e);
    else if (frame.x0 !== undefined) {
      frame.first = { low: frame.x0, middle: frame.x0, high: frame.x0, who: -1 };
    }
    if (frame.d) frame.disagreement = summary(frame, frame.d);
    frame.sequence = run.sequence;
    run.sequence += 1;
    run.frames.push(frame);
    run.version += 1;
    noticeFields(run, frame);
  };

  /** Notes which fields this run reports; what was never reported is not shown. */
  function noticeFields(run, frame) {
    for (const key of FIELDS) {
      if (frame[key] === undefined || run.has[key]) continue;
      run.has[key] = true;
    }
    for (const name in frame.mm) {
      if (run.metrics.includes(name)) continue;
      if (run.metrics.length >= 16) break;
      run.metrics.push(name);
    }
    if (frame.q) {
      run.perRound += frame.q.list ? frame.q.list.length : frame.q.end - frame.q.first;
      run.roundsCounted += 1;
    }
  }

  /** The fields that this run reports, as a key for what has to be built anew. */
  watch.reported = run => Object.keys(run.has).sort().join() + (run.from.length ? ",edges" : "");

  watch.addEvent = function (run, raw) {
    const event = watch.decodeEvent(raw, run);
    if (!event) return;
    const keys = ["t", "kind", "agent", "other", "text"];
    // An event that lasts is sent again, with its end, when it is over.
    const open = event.until === undefined ? -1 : run.events.findLastIndex(o =>
      o.until === undefined && keys.every(key => o[key] === event[key]));
    if (open >= 0) run.events[open] = event;
    else {
      let at = run.events.length;
      while (at > 0 && run.events[at - 1].t > event.t) at -= 1;
      run.events.splice(at, 0, event);
    }
    if (run.events.length > MOST_EVENTS) {
      run.events.splice(0, MOST_EVENTS / 10);
      watch.problem("only the newest " + MOST_EVENTS + " events are kept");
    }
    run.kinds.add(event.kind);
    run.told += 1;
    run.version += 1;
  };

  /** Removes old frames: one in 4 stays after 2 minutes, one in 20 after an hour, and all
   *  within 5 s of an event. Without seconds, 240 and 7,200 frames count instead. */
  watch.thin = function (run) {
    const newest = run.frames[run.frames.length - 1];
    if (!newest) return;
    const seconds = run.clock === "s";
    let e = 0;
    const stays = frame => {
      const age = seconds ? newest.t - frame.t : (newest.sequence - frame.sequence) / 2;
      if (age <= 120) return true;
      if (frame.sequence % (age <= 3600 ? 4 : 20) === 0) return true;
      while (e < run.events.length && run.events[e].t < frame.t - 5) e += 1;
      return seconds && e < run.events.length && run.events[e].t <= frame.t + 5;
    };
    const kept = run.frames.filter(stays);
    if (kept.length > mostFrames(run, newest)) halveOldest(kept);
    if (kept.length === run.frames.length) return;
    run.frames = kept;
    run.version += 1;
  };

  /** Fewer frames are kept if they are large, so that all together stay below about 64 MB. */
  function mostFrames(run, frame) {
    const size = 24 * run.n + (frame.g ? frame.g.length : 0) + (frame.w ? frame.w.text.length : 0);
    return watch.clamp(64e6 / size, 300, MOST_FRAMES);
  }

  /** Drops every second frame of the older half, but never the first one. */
  function halveOldest(frames) {
    const half = frames.length >> 1;
    const older = frames.splice(0, half).filter((_, i) => i % 2 === 0);
    frames.unshift(...older);
  }

  /** Index of the newest frame that is not after `t`; 0 if all are later. */
  watch.frameAt = function (run, t) {
    let [low, high] = [0, run.frames.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (run.frames[middle].t <= t + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /** Rounds between two uses of an edge, as far as the schedule shows it. */
  watch.period = run => (run.perRound
    ? Math.max(1, Math.round((run.from.length * run.roundsCounted) / run.perRound)) : 1);

  /** Rounds since the last message of an edge was used: exact below 40; NaN if not known. */
  watch.ageOf = function (run, frame, e) {
    const v = frame.g && e < frame.g.length ? run.code.get(frame.g[e]) : undefined;
    return v === undefined ? NaN : v < 40 ? v : 40 * 2 ** ((v - 40) / 8);
  };

  const microseconds = (run, letter) => {
    const v = run.code.get(letter);
    return v ? 50 * 2 ** ((v - 1) / 8) : 0;
  };

  /** The last rounds of an agent up to frame `i`: [compute, wait, mix, disk] in microseconds,
   *  newest last. Stops where frames were thinned, since rounds are missing there. */
  watch.timesOf = function (run, i, agent, most) {
    const rows = [];
    for (let j = i; j >= 0 && rows.length < most && i - j < 40; j -= 1) {
      const { w, k } = run.frames[j];
      const row = !w ? -1 : w.agents ? w.agents.indexOf(agent) : agent;
      if (row < 0) break;
      for (let r = w.counts[row] - 1; r >= 0 && rows.length < most; r -= 1) {
        const at = w.start[row] + 4 * r;
        rows.push([0, 1, 2, 3].map(p => microseconds(run, w.text[at + p])));
      }
      if (j > 0 && k - w.counts[row] > run.frames[j - 1].k + 2) break;
    }
    return rows.reverse();
  };

  /** Calls `each` for the edges that the schedule has in the round of this frame. */
  watch.eachScheduled = function (frame, each) {
    if (!frame.q) return;
    if (frame.q.list) frame.q.list.forEach(each);
    else for (let e = frame.q.first; e < frame.q.end; e += 1) each(e);
  };
})(watch);
