// Time per round: compute, wait, mix and disk of the last rounds, agent by agent.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const TOP = 20;
  const LEFT = 34;
  const PARTS = ["compute", "wait", "mix", "disk"];
  watch.PARTS = PARTS;

  let layout = { agents: [], height: 15 };

  const sum = row => row[0] + row[1] + row[2] + row[3];

  /** Agents whose times this frame has, with their last rounds. */
  function collect(run, frame, i, most) {
    const agents = frame.w ? frame.w.agents || Array.from({ length: run.n }, (_, a) => a) : [];
    return agents.map(a => {
      const rounds = watch.timesOf(run, i, a, most);
      const real = rounds.filter(row => sum(row) > 0);
      const total = real.reduce((t, row) => t + sum(row), 0);
      const wait = real.reduce((t, row) => t + row[1], 0);
      return { a, rounds, n: real.length, total, work: total - wait };
    });
  }

  /** Width of the time axis in microseconds; kept while it fits, so that it stays put. */
  function axisSpan(run, rows, most) {
    const longest = Math.max(...rows.map(row => row.total), 1);
    const planned = run.hello.tick ? run.hello.tick * 1e6 * most : 0;
    const wanted = Math.max(longest, Math.min(planned, longest * 1.3)) * 1.03;
    const old = run.waterfallSpan;
    if (old && old.most === most && wanted <= old.span && wanted > 0.6 * old.span) return old.span;
    run.waterfallSpan = { most, span: wanted };
    return wanted;
  }

  function drawAxis(context, colours, { width, right, span, scale, height }) {
    const steps = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 6e7];
    const step = steps.find(v => v * scale > (width < 500 ? 70 : 110)) || 6e8;
    for (let v = 0; v * scale < width - right - LEFT - 30; v += step) {
      const x = width - right - v * scale;
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x), TOP - 3, 1, height);
      context.fillStyle = colours.muted;
      context.textAlign = v ? "center" : "right";
      const text = span > 5e6 ? v / 1e6 + " s" : v / 1000 + " ms";
      context.fillText(v ? "−" + text : "now", x, 7);
    }
    context.textAlign = "right";
    context.fillText(right > 60 ? "ms a round" : "ms", width - (right > 60 ? 50 : 0), 7);
    if (right > 60) context.fillText("work", width, 7);
  }

  function drawNumbers(run, frame, context, colours, row, y, { width, right }) {
    const at = width - (right > 60 ? 50 : 0);
    const up = watch.isUp(frame, row.a);
    context.textAlign = "right";
    if (!up) {
      context.fillStyle = colours.alert;
      context.fillText(watch.stateName(frame.s[row.a]), at, y);
    } else if (row.n) {
      context.fillStyle = colours.ink;
      context.fillText((row.total / row.n / 1000).toFixed(1), at, y);
      context.fillStyle = colours.muted;
      const share = ((100 * row.work) / row.total).toFixed(0) + " %";
      if (right > 60) context.fillText(share, width, y);
    }
  }

  /** Rectangles of one agent by part, newest round at the right. */
  function bars(row, y, height, { width, right, scale, idle }, out) {
    let x = width - right;
    for (let j = row.rounds.length - 1; j >= 0; j -= 1) {
      const times = row.rounds[j];
      if (!sum(times)) x -= idle * scale; // The agent was down: a gap as long as a round.
      for (let p = 3; p >= 0; p -= 1) {
        const w = times[p] * scale;
        x -= w;
        // A gap of one pixel before compute separates the rounds.
        const gap = p === 0 && w > 2 ? 1 : 0;
        if (w > 0) out[p].push([x + gap, y + 2, Math.max(0.5, w - gap), height - 4]);
      }
    }
  }

  function drawRows(run, frame, context, colours, rows, place) {
    const rects = PARTS.map(() => []);
    rows.forEach((row, r) => {
      const y = TOP + r * layout.height;
      const selected = row.a === watch.view.selected;
      if (selected) {
        context.fillStyle = colours.soft;
        context.fillRect(0, y, place.width, layout.height);
        context.fillStyle = colours.accent;
        context.fillRect(0, y, 2, layout.height);
      }
      context.textAlign = "right";
      context.fillStyle = !watch.isUp(frame, row.a) ? colours.alert
        : selected ? colours.accent : colours.ink;
      context.fillText(row.a, LEFT - 8, y + layout.height / 2 + 0.5);
      if (watch.isUp(frame, row.a)) bars(row, y, layout.height, place, rects);
      drawNumbers(run, frame, context, colours, row, y + layout.height / 2 + 0.5, place);
    });
    rects.forEach((list, p) => {
      context.fillStyle = colours[PARTS[p]];
      for (const rect of list) context.fillRect(...rect);
    });
  }

  function about(run, frame, rows, most) {
    if (!rows.length) return "not reported in this frame";
    const busiest = rows.reduce((best, row) => (row.n && row.work / row.n >
      (best ? best.work / best.n : 0) ? row : best), null);
    const which = frame.w.agents ? " of " + rows.length + " agents" : "";
    return "last " + most + " rounds" + which + (busiest ? "; most work: agent " + busiest.a +
      ", " + (busiest.work / busiest.n / 1000).toFixed(1) + watch.NBSP + "ms a round" : "");
  }

  function draw(run, frame, i) {
    const canvas = byId("waterfall-canvas");
    const width = byId("waterfall").clientWidth;
    const most = width < 500 ? 10 : 20;
    const rows = collect(run, frame, i, most);
    const height = rows.length > 8 ? (window.innerWidth >= 1900 ? 22 : 15) : 26;
    layout = { agents: rows.map(row => row.a), height };
    const context = watch.fitCanvas(canvas, width, TOP + Math.max(1, rows.length) * height + 4);
    const text = about(run, frame, rows, most);
    setText(byId("waterfall-about"), text);
    watch.setAttribute(canvas, "aria-label", "Compute, wait, mix and disk time, " + text +
      ". The panel of an agent has its numbers.");
    if (!context || !rows.length) return;
    const colours = watch.colours();
    context.font = watch.font(11.5);
    const right = width > 500 ? 142 : 46;
    const span = axisSpan(run, rows, most);
    const rounds = rows.reduce((n, row) => n + row.n, 0) || 1;
    const idle = rows.reduce((t, row) => t + row.total, 0) / rounds;
    const place = { width, right, span, idle, scale: (width - LEFT - right) / span,
      height: rows.length * height + 4 };
    drawAxis(context, colours, place);
    drawRows(run, frame, context, colours, rows, place);
  }

  watch.sections.push({
    id: "waterfall",
    has: run => run.has.w,
    build() {
      const canvas = byId("waterfall-canvas");
      if (canvas.listening) return;
      canvas.listening = true;
      canvas.addEventListener("click", event => {
        const y = event.clientY - canvas.getBoundingClientRect().top - TOP;
        const agent = layout.agents[Math.floor(y / layout.height)];
        if (agent !== undefined) watch.openDay(agent, byId("agents-scroll"));
      });
    },
    draw,
  });
})(watch);
