// Digraph of one round in SVG: agents on a circle, an arc for each edge of the round.
(function (watch) {
  "use strict";

  const { byId, setText, svg } = watch;
  const RADIUS = 222;

  const state = { nodes: [], paths: [], shapes: [], pointed: null };

  const place = (n, a) => {
    const angle = (2 * Math.PI * a) / n - Math.PI / 2;
    return [RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)];
  };

  const bodyRadius = n => (n > 32 ? 12.5 : n > 12 ? 16 : 26);

  /** Path of an edge: a quadratic curve that bends to one side, so that both directions show. */
  function shape(run, e) {
    const [n, r] = [run.n, bodyRadius(run.n)];
    const [p, q] = [place(n, run.from[e]), place(n, run.to[e])];
    const [dx, dy] = [q[0] - p[0], q[1] - p[1]];
    const length = Math.hypot(dx, dy);
    const bend = n > 12 ? Math.min(10, length * 0.04) : 26;
    const pull = n > 12 ? 1 - 0.14 * Math.min(1, length / 240) : 0.86;
    const middle = [((p[0] + q[0]) / 2) * pull - (dy / length) * bend,
      ((p[1] + q[1]) / 2) * pull + (dx / length) * bend];
    const toward = (from, distance) => {
      const [x, y] = [middle[0] - from[0], middle[1] - from[1]];
      const l = Math.hypot(x, y) || 1;
      return [from[0] + (x / l) * distance, from[1] + (y / l) * distance];
    };
    const text = point => point[0].toFixed(1) + " " + point[1].toFixed(1);
    return "M" + text(toward(p, r + 2)) + "Q" + text(middle) + " " + text(toward(q, r + 9));
  }

  function markers(box) {
    const defs = svg("defs", {}, box);
    const tips = [["tip", "edge"], ["tip-silent", "silent"], ["tip-parked", "alert"]];
    for (const [id, colour] of tips) {
      const marker = svg("marker", { id, viewBox: "0 0 8 7", refX: 2, refY: 3.5, markerWidth: 8,
        markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, defs);
      svg("path", { d: "M0 0L8 3.5L0 7z", fill: "var(--" + colour + ")", class: "tip" }, marker);
    }
  }

  /** Arrow keys go round the circle, Enter and Space open the agent. */
  function onKey(event, run, a) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      watch.openDay(a, state.nodes[a].group);
    } else if (step && !event.shiftKey) {
      event.preventDefault();
      focusNode((a + step + run.n) % run.n);
    }
  }

  function focusNode(a) {
    for (const node of state.nodes) node.group.setAttribute("tabindex", -1);
    state.nodes[a].group.setAttribute("tabindex", 0);
    state.nodes[a].group.focus();
  }

  function makeNode(run, box, a) {
    const [x, y] = place(run.n, a);
    const r = bodyRadius(run.n);
    const group = svg("g", { class: "node", role: "button", tabindex: a ? -1 : 0,
      transform: "translate(" + x.toFixed(1) + " " + y.toFixed(1) + ")" }, box);
    svg("circle", { r: r + 6, class: "halo" }, group);
    const body = svg("circle", { r, class: "body" }, group);
    svg("circle", { r: r + 0.5, class: "ring" }, group);
    const label = svg("text", { y: 1, class: run.n > 32 ? "small" : "" }, group);
    label.textContent = a;
    group.addEventListener("click", () => watch.openDay(a, group));
    group.addEventListener("keydown", event => onKey(event, run, a));
    group.addEventListener("pointerenter", () => point(a));
    group.addEventListener("pointerleave", () => point(null));
    return { group, body, label };
  }

  function point(a) {
    state.pointed = a;
    const frame = watch.shownFrame();
    const text = a === null || !frame ? "Point at an agent to read it, select it for more."
      : watch.agentLine(watch.run, frame, a) + ".";
    setText(byId("network-reading"), text);
  }

  function build(run, stage) {
    const box = svg("svg", { viewBox: "-262 -262 524 524", role: "group", id: "graph",
      "aria-label": "Digraph of this round; arrow keys go round, Enter opens an agent" }, stage);
    markers(box);
    state.box = box;
    state.edges = svg("g", {}, box);
    state.paths = [];
    state.shapes = [];
    state.nodes = Array.from({ length: run.n }, (_, a) => makeNode(run, box, a));
    watch.edgeLegend(run);
    watch.metricLegend(run);
    watch.stateLegend(run);
    point(null);
  }

  /** Edges to draw with their kind, and the counts of the legend. */
  function sortEdges(run, frame) {
    const parked = new Set((frame.p || []).map(pair => pair[0]));
    const used = [];
    const counts = { arrived: 0, silent: 0, scheduled: 0, parked: parked.size };
    const add = (e, kind) => {
      if (run.from[e] < 0 || run.from[e] === run.to[e]) return;
      used.push([e, kind]);
    };
    const sort = e => {
      const age = watch.ageOf(run, frame, e);
      const kind = !frame.g ? "scheduled" : age === 0 ? "arrived" : "silent";
      if (frame.g && Number.isNaN(age)) return;
      counts[kind] += 1;
      if (!parked.has(e)) add(e, kind);
    };
    if (frame.q) watch.eachScheduled(frame, sort);
    else if (frame.g) {
      for (let e = 0; e < frame.g.length; e += 1) {
        if (watch.ageOf(run, frame, e) === 0) sort(e);
      }
    }
    for (const e of parked) add(e, "parked");
    return { used, counts };
  }

  function drawEdges(run, used, selected) {
    while (state.paths.length < used.length) {
      state.paths.push({ node: svg("path", {}, state.edges), edge: -1 });
    }
    state.paths.forEach((path, j) => {
      if (j >= used.length) {
        watch.setAttribute(path.node, "class", "off");
        return;
      }
      const [e, kind] = used[j];
      if (path.edge !== e) {
        state.shapes[e] = state.shapes[e] || shape(run, e);
        path.node.setAttribute("d", state.shapes[e]);
        path.edge = e;
      }
      const near = selected !== null && (run.from[e] === selected || run.to[e] === selected);
      watch.setAttribute(path.node, "class", near ? kind + " near" : kind);
    });
  }

  function drawNode(run, frame, a, left) {
    const { group, body, label } = state.nodes[a];
    const shown = watch.shownState(run, frame, a, left);
    const known = frame.e && !Number.isNaN(frame.e[a]);
    const decade = known ? watch.stepOf(run, frame.e[a]) : -1;
    const mark = "node state-" + (shown === "?" ? "u" : shown) +
      (a === watch.view.selected ? " selected" : "");
    watch.setAttribute(group, "class", mark);
    watch.setAttribute(body, "class", decade < 0 ? "body plain" : "body e" + decade);
    watch.setAttribute(label, "class", (run.n > 32 ? "small " : "") +
      (decade < 0 ? "plain" : "on-e" + decade));
    watch.setAttribute(group, "aria-label", watch.agentLine(run, frame, a));
  }

  /** "each sends to the one 16 further on", if this holds for all edges of the round. */
  function aboutRound(run, frame) {
    const round = "round " + watch.whole(frame.k);
    if (!frame.q) return round;
    const hops = new Set();
    const senders = new Set();
    let count = 0;
    watch.eachScheduled(frame, e => {
      hops.add((run.to[e] - run.from[e] + run.n) % run.n);
      senders.add(run.from[e]);
      count += 1;
    });
    const [hop] = hops;
    if (hops.size !== 1 || senders.size !== run.n) {
      return round + ": " + watch.count(count, "edge") + " scheduled";
    }
    return round + ": each sends to the " + (hop === 1 ? "next" : "one " + hop + " further on");
  }

  function draw(run, frame) {
    const { selected } = watch.view;
    const { used, counts } = sortEdges(run, frame);
    const { left } = watch.roll(run, frame);
    drawEdges(run, used, selected);
    watch.setAttribute(state.box, "class", (selected === null ? "" : "focus ") +
      (counts.parked > 12 ? "many" : ""));
    for (let a = 0; a < run.n; a += 1) drawNode(run, frame, a, left);
    for (const name in counts) watch.setCount(name, counts[name]);
    watch.countStates(frame);
    setText(byId("network-about"), aboutRound(run, frame));
    if (state.pointed !== null) point(state.pointed);
  }

  watch.graph = { build, draw };
})(watch);
