// Ribbon of events in lanes, with the scrubber and the line that says what happened last.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const LANE = 14;
  const PAD = 8; // The canvas is wider than the scrubber, so that marks at its ends are whole.
  const LANES = [
    { name: "down", kinds: ["kill", "join", "start", "leave"] },
    { name: "suspicions", kinds: ["suspect", "refute"] },
    { name: "epochs", kinds: ["epoch"] },
    { name: "reversals", kinds: ["reversal", "close"] },
    { name: "partitions", kinds: ["partition"] },
    { name: "faults", kinds: ["fault"] },
    { name: "other", kinds: null }, // All other kinds, known or not.
  ];

  const state = { lanes: [], drawn: "", pointed: null, marks: [] };

  const laneOf = kind => LANES.findIndex(lane => !lane.kinds || lane.kinds.includes(kind));

  /** First and last time of the ribbon: all frames and events. */
  function extent(run) {
    const { frames, events } = run;
    const begin = Math.min(frames[0].t, events.length ? events[0].t : Infinity);
    return [begin, Math.max(frames[frames.length - 1].t, begin + 1e-9)];
  }

  function build(run) {
    const used = new Set([...run.kinds].map(laneOf));
    state.lanes = LANES.filter((_, i) => used.has(i));
    state.row = new Map(state.lanes.map((lane, row) => [laneOf(lane.kinds ? lane.kinds[0] : ""),
      row]));
    const names = state.lanes.map(lane => watch.html("li", { text: lane.name }));
    byId("lane-names").replaceChildren(...names);
    byId("lane-names").hidden = !names.length;
    byId("lane-names").parentNode.classList.toggle("bare", !names.length);
    state.drawn = "";
    listen();
  }

  const middle = row => LANE * row + LANE / 2;

  function cross(context, x, y) {
    context.beginPath();
    context.moveTo(x - 3.5, y - 3.5);
    context.lineTo(x + 3.5, y + 3.5);
    context.moveTo(x + 3.5, y - 3.5);
    context.lineTo(x - 3.5, y + 3.5);
    context.stroke();
  }

  function circle(context, x, y, fill, stroke) {
    context.beginPath();
    context.arc(x, y, 3.3, 0, 7);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = stroke;
    context.stroke();
  }

  function diamond(context, x, y) {
    context.beginPath();
    context.moveTo(x, y - 4);
    context.lineTo(x + 4, y);
    context.lineTo(x, y + 4);
    context.lineTo(x - 4, y);
    context.fill();
  }

  function bar(context, x, y, x2, height) {
    context.fillRect(x, y - height / 2, Math.max(2, x2 - x), height);
  }

  /** For each death the moment when the agent came back, or the end of the ribbon. */
  function returnTimes(run, end) {
    const next = new Map();
    const times = new Map();
    for (let i = run.events.length - 1; i >= 0; i -= 1) {
      const event = run.events[i];
      const back = next.get(event.agent);
      if (event.kind === "kill") times.set(event, back === undefined ? end : back);
      if (["join", "start", "kill"].includes(event.kind)) next.set(event.agent, event.t);
    }
    return times;
  }

  const PAINT = {
    kill(context, colours, e, x, y, { X, back }) {
      context.fillStyle = colours.alert;
      context.globalAlpha = 0.38;
      if (e.agent !== undefined) bar(context, x, y, X(back.get(e)), 5);
      context.globalAlpha = 1;
      context.strokeStyle = colours.alert;
      cross(context, x, y);
    },
    join: (context, colours, e, x, y) => circle(context, x, y, colours.paper, colours.accent),
    start: (context, colours, e, x, y) => circle(context, x, y, colours.paper, colours.accent),
    leave(context, colours, e, x, y) {
      context.fillStyle = colours.muted;
      context.fillRect(x - 4, y - 1, 8, 2);
    },
    suspect: (context, colours, e, x, y) => circle(context, x, y, colours.paper, colours.warn),
    refute: (context, colours, e, x, y) => circle(context, x, y, colours.warn, colours.warn),
    epoch(context, colours, e, x, y) {
      context.fillStyle = colours.ink;
      context.fillRect(x - 0.75, y - 5, 1.5, 10);
    },
    reversal(context, colours, e, x, y) {
      context.fillStyle = colours.muted;
      context.fillRect(x - 0.5, y - 4.5, 1, 9);
    },
    partition(context, colours, e, x, y, { X, end }) {
      context.fillStyle = colours.warn;
      bar(context, x, y, X(e.until === undefined ? end : Math.min(e.until, end)), 6);
    },
    fault(context, colours, e, x, y, { X, end }) {
      context.fillStyle = colours.warn;
      if (e.until > e.t) bar(context, x, y + 6.25, X(Math.min(e.until, end)), 1.5);
      context.fillRect(x - 1, y - 5, 2, 12);
    },
    checkpoint(context, colours, e, x, y) {
      context.fillStyle = colours.muted;
      context.fillRect(x - 0.5, y - 3, 1, 6);
    },
  };
  PAINT.close = PAINT.reversal;

  /** Draws each mark once a pixel and kind, so that thousands of events cost little. */
  function drawMarks(run, context, colours, place) {
    state.marks = [];
    const done = new Set();
    context.lineWidth = 1.6;
    for (const event of run.events) {
      const row = state.row.get(laneOf(event.kind));
      const x = place.X(Math.min(event.t, place.end));
      state.marks.push({ event, row, x });
      const key = row + event.kind + Math.round(x * 2);
      if (done.has(key)) continue;
      done.add(key);
      const paint = PAINT[event.kind];
      if (paint) paint(context, colours, event, x, middle(row), place);
      else {
        context.fillStyle = watch.isKnownKind(event.kind) ? colours.muted : colours.accent;
        diamond(context, x, middle(row));
      }
    }
    drawEpochNumbers(context, colours);
  }

  function drawEpochNumbers(context, colours) {
    context.font = watch.font(10.5);
    context.fillStyle = colours.ink;
    context.textAlign = "left";
    const epochs = state.marks.filter(m => m.event.kind === "epoch" && m.event.epoch !== undefined);
    epochs.forEach(({ event, row, x }, i) => {
      const room = i + 1 < epochs.length ? epochs[i + 1].x - x : Infinity;
      const text = String(event.epoch);
      if (room > 10 + 6 * text.length) context.fillText(text, x + 4, middle(row) + 0.5);
    });
  }

  /** Labels of faults and unknown kinds, where there is room before the next mark. */
  function drawLabels(run, width) {
    const labels = [];
    const faults = laneOf("fault");
    const next = new Map(); // Where the next mark of a lane is, going from right to left.
    for (let i = state.marks.length - 1; i >= 0 && labels.length < 80; i -= 1) {
      const mark = state.marks[i];
      const lane = laneOf(mark.event.kind);
      const end = next.has(mark.row) ? next.get(mark.row) : width + PAD;
      const room = Math.min(end - mark.x - 12, 220);
      next.set(mark.row, mark.x);
      if ((lane !== faults && watch.isKnownKind(mark.event.kind)) || room < 26) continue;
      const text = lane === faults ? mark.event.text || "fault" : watch.eventText(run, mark.event);
      const label = watch.html("span", { text, title: watch.eventText(run, mark.event) });
      label.style.left = mark.x + 6 - PAD + "px";
      label.style.top = mark.row * LANE - 0.5 + "px";
      label.style.maxWidth = room + "px";
      labels.push(label);
    }
    byId("lane-labels").replaceChildren(...labels);
  }

  function drawLanes(run) {
    const canvas = byId("lanes");
    const width = canvas.parentNode.clientWidth;
    const [begin, end] = extent(run);
    const key = [run.version, width, watch.themeName()].join();
    if (state.drawn === key && state.run === run) return;
    state.drawn = key;
    state.run = run;
    canvas.hidden = !state.lanes.length;
    const X = t => PAD + (width * (t - begin)) / (end - begin);
    const context = watch.fitCanvas(canvas, width + 2 * PAD, LANE * state.lanes.length);
    if (!context) {
      byId("lane-labels").replaceChildren();
      return;
    }
    const colours = watch.colours();
    context.fillStyle = colours.line;
    state.lanes.forEach((_, row) => context.fillRect(PAD, Math.floor(middle(row)), width, 1));
    drawMarks(run, context, colours, { X, end, back: returnTimes(run, end) });
    drawLabels(run, width);
  }

  function drawNow(run, frame, i) {
    const [begin, end] = extent(run);
    const scrubber = byId("scrubber");
    scrubber.min = begin;
    scrubber.max = end;
    scrubber.value = frame.t;
    watch.setAttribute(scrubber, "aria-valuetext", watch.momentAndRound(run, frame));
    const share = (100 * (frame.t - begin)) / (end - begin);
    scrubber.parentNode.style.setProperty("--at", share.toFixed(3) + "%");
    const live = watch.link.live && i === run.frames.length - 1 && watch.view.follow;
    setText(byId("now"), watch.momentAndRound(run, frame) + (live ? " · live" : ""));
    const moving = watch.isMoving();
    const play = byId("play");
    if (play.moving !== moving) {
      play.moving = moving;
      play.replaceChildren(watch.icon(moving ? "pause" : "play"));
      play.setAttribute("aria-label", moving ? "Pause" : "Play");
    }
    byId("newest").disabled = i === run.frames.length - 1 && watch.view.follow;
    if (!state.pointed) showLast(run, frame);
  }

  function showLast(run, frame) {
    const event = run.events.findLast(e => e.t <= frame.t && e.kind !== "reversal" &&
      e.kind !== "checkpoint");
    setText(byId("last"), event ? watch.span(run, frame.t - event.t) + " ago: " +
      watch.eventText(run, event) : run.kinds.size ? "no event yet" : "");
  }

  /** Reads the event under the pointer in the line above the lanes. */
  function point(event) {
    const frame = watch.shownFrame();
    if (!frame) return;
    const box = byId("lanes").getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor(y / LANE);
    let best = null;
    for (const mark of state.marks) {
      const near = Math.abs(mark.x - x);
      if (mark.row === row && near < 6 && (!best || near < Math.abs(best.x - x))) best = mark;
    }
    state.pointed = best;
    const { run } = watch;
    if (best) {
      setText(byId("last"), watch.moment(run, best.event.t) + ": " +
        watch.eventText(run, best.event) + watch.eventSpan(run, best.event));
    } else showLast(run, frame);
  }

  function listen() {
    const canvas = byId("lanes");
    if (canvas.listening) return;
    canvas.listening = true;
    const drag = event => {
      if (!watch.shownFrame()) return;
      const box = canvas.getBoundingClientRect();
      const [begin, end] = extent(watch.run);
      const width = box.width - 2 * PAD;
      const share = watch.clamp((event.clientX - box.left - PAD) / width, 0, 1);
      watch.play(false);
      watch.seekTime(begin + share * (end - begin));
    };
    canvas.addEventListener("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      drag(event);
    });
    canvas.addEventListener("pointermove", event => (event.buttons & 1 ? drag(event)
      : point(event)));
    canvas.addEventListener("pointerleave", () => {
      state.pointed = null;
      watch.drawSoon();
    });
  }

  watch.sections.push({
    id: "ribbon",
    has: () => true,
    key: run => [...new Set([...run.kinds].map(laneOf))].sort().join(),
    build,
    draw(run, frame, i) {
      drawLanes(run);
      drawNow(run, frame, i);
    },
  });
})(watch);
