// Matrix of message ages for many agents: columns send, rows receive.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const MARGIN = 28;
  // Buckets by age, then receiver down, mass parked, and age not known.
  const [DOWN, PARKED, UNKNOWN] = [6, 7, 8];
  const COLOURS = ["e5", "e4", "e3", "e2", "e1", "e0", "none", "alert", "line"];

  const state = { canvas: null, cell: 1, pointed: null };

  function cellAt(event) {
    const box = state.canvas.getBoundingClientRect();
    const at = x => Math.floor((x - MARGIN) / state.cell);
    const [from, to] = [at(event.clientX - box.left), at(event.clientY - box.top)];
    const { n } = watch.run;
    return from >= 0 && to >= 0 && from < n && to < n ? [from, to] : null;
  }

  function read() {
    const frame = watch.shownFrame();
    const hint = "Point at a cell to read its edge, select it for its receiver.";
    setText(byId("network-reading"), state.pointed && frame
      ? edgeText(watch.run, frame, ...state.pointed) + "." : hint);
  }

  function edgeText(run, frame, from, to) {
    const e = run.pair.get(from * run.n + to);
    const name = from + " → " + to + ": ";
    if (e === undefined) return name + "no edge";
    const age = watch.ageOf(run, frame, e);
    const parked = (frame.p || []).find(pair => pair[0] === e);
    return name + (Number.isNaN(age) ? "age not known" : "last message used " +
      watch.rounds(age) + " ago") + (parked ? ", mass " + watch.sci(parked[1]) + " parked" : "");
  }

  /** Arrow keys choose a receiver, Enter opens it. */
  function onKey(event) {
    const { run } = watch;
    if (!watch.shownFrame()) return;
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const at = state.pointed ? state.pointed[1] : watch.view.selected || 0;
    if (event.key === "Enter") watch.openDay(at, state.canvas);
    else if (step && !event.shiftKey) {
      const to = (at + step + run.n) % run.n;
      const oldest = [...run.into[to]].sort((e, f) => ageNow(f) - ageNow(e))[0];
      state.pointed = [oldest === undefined ? to : run.from[oldest], to];
      read();
      watch.drawSoon();
    } else return;
    event.preventDefault();
  }

  const ageNow = e => watch.ageOf(watch.run, watch.shownFrame(), e) || 0;

  function build(run, stage) {
    const canvas = watch.html("canvas", { id: "matrix", role: "img", tabindex: 0 }, stage);
    state.canvas = canvas;
    state.pointed = null;
    canvas.addEventListener("pointermove", event => {
      state.pointed = cellAt(event);
      read();
    });
    canvas.addEventListener("pointerleave", () => {
      state.pointed = null;
      read();
    });
    canvas.addEventListener("click", event => {
      const cell = cellAt(event);
      if (cell) watch.openDay(cell[1], canvas);
    });
    canvas.addEventListener("keydown", onKey);
    watch.ageLegend(run);
    watch.stateLegend(run);
    setText(byId("network-about"), "columns send, rows receive; rounds since the last message " +
      "was used");
    read();
  }

  function sortEdges(run, frame, period) {
    const parked = new Set((frame.p || []).map(pair => pair[0]));
    const buckets = COLOURS.map(() => []);
    for (let e = 0; e < run.from.length; e += 1) {
      if (run.from[e] < 0) continue;
      const age = watch.ageOf(run, frame, e);
      let bucket = 0;
      if (parked.has(e)) bucket = PARKED;
      else if (!watch.isUp(frame, run.to[e])) bucket = DOWN;
      else if (Number.isNaN(age)) bucket = UNKNOWN;
      else while (bucket < 5 && age > period * 2 ** bucket) bucket += 1;
      buckets[bucket].push(e);
    }
    return buckets;
  }

  function drawCells(run, context, buckets, colours) {
    const { cell } = state;
    const size = Math.max(cell + 0.4, 1.6);
    buckets.forEach((edges, b) => {
      context.fillStyle = colours[COLOURS[b]];
      // What is late is drawn a little larger, so that it can be seen among many.
      const grow = (b >= 3 && b < DOWN) || b === PARKED ? 1 : 0;
      for (const e of edges) {
        context.fillRect(MARGIN + run.from[e] * cell - grow / 2,
          MARGIN + run.to[e] * cell - grow / 2, size + grow, size + grow);
      }
    });
  }

  function drawAxes(run, frame, context, colours) {
    const { cell } = state;
    context.font = watch.font(11);
    context.fillStyle = colours.muted;
    const step = run.n > 300 ? 100 : run.n > 120 ? 50 : run.n > 60 ? 20 : 10;
    for (let v = 0; v < run.n; v += step) {
      const q = MARGIN + (v + 0.5) * cell;
      context.textAlign = "center";
      context.fillText(v, q, 8);
      context.textAlign = "right";
      context.fillText(v, MARGIN - 8, q);
    }
    for (let a = 0; a < run.n; a += 1) {
      const selected = a === watch.view.selected;
      const joining = frame.s && frame.s[a] === "j";
      if (watch.isUp(frame, a) && !joining && !selected) continue;
      context.fillStyle = selected || joining ? colours.accent : colours.alert;
      pointer(context, MARGIN + (a + 0.5) * cell);
    }
  }

  /** Small triangles at both axes. */
  function pointer(context, q) {
    for (const [x, y, dx, dy] of [[MARGIN - 1, q, -5, 3.5], [q, MARGIN - 1, 3.5, -5]]) {
      context.beginPath();
      context.moveTo(x, y);
      if (dx < 0) {
        context.lineTo(x + dx, y - dy);
        context.lineTo(x + dx, y + dy);
      } else {
        context.lineTo(x - dx, y + dy);
        context.lineTo(x + dx, y + dy);
      }
      context.fill();
    }
  }

  function draw(run, frame) {
    const width = byId("stage").clientWidth;
    const context = watch.fitCanvas(state.canvas, width, width);
    if (!context) return;
    const colours = watch.colours();
    const { selected } = watch.view;
    state.cell = (width - MARGIN - 2) / run.n;
    const side = state.cell * run.n;
    const period = watch.period(run);
    context.strokeStyle = colours.line;
    context.strokeRect(MARGIN - 0.5, MARGIN - 0.5, side + 1, side + 1);
    if (selected !== null) {
      const [at, wide] = [MARGIN + selected * state.cell, Math.max(state.cell, 3)];
      context.fillStyle = colours.line;
      context.fillRect(MARGIN, at, side, wide);
      context.fillRect(at, MARGIN, wide, side);
    }
    const buckets = sortEdges(run, frame, period);
    drawCells(run, context, buckets, colours);
    drawAxes(run, frame, context, colours);
    watch.setCount("parked", buckets[PARKED].length);
    watch.setCount("none", buckets[DOWN].length);
    watch.countStates(frame);
    const late = buckets[3].length + buckets[4].length + buckets[5].length;
    watch.setAttribute(state.canvas, "aria-label", "Matrix of message ages, " + run.n + " by " +
      run.n + ": " + late + " edges older than " + 4 * period + " rounds, " +
      buckets[PARKED].length + " with parked mass. Arrow keys choose a receiver, Enter opens it.");
    if (state.pointed) read();
  }

  watch.matrix = { build, draw };
})(watch);
