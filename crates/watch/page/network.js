// The network section: a digraph of the round up to 50 agents, else a matrix of message ages.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const MOST_IN_GRAPH = 50;
  const STATES = ["u", "j", "s", "d"];
  const LINES = { arrived: "edge", silent: "silent", parked: "alert", scheduled: "edge" };

  const counters = {}; // Elements of the legend that show a count.

  function keyRow(title) {
    const row = watch.html("div", { class: "keyrow" }, byId("network-keys"));
    watch.html("span", { text: title }, row);
    return row;
  }

  function legendItem(list, name, text, mark) {
    const item = watch.html("li", {}, list);
    if (mark) item.append(mark);
    item.append(text + " ");
    counters[name] = watch.html("b", {}, item);
  }

  function arrow(kind) {
    const mark = watch.svg("svg", { width: 34, height: 10, "aria-hidden": "true" });
    watch.svg("path", { d: "M0 5h25", class: "key " + kind }, mark);
    watch.svg("path", { d: "M25 1.5l8 3.5-8 3.5z", fill: "var(--" + LINES[kind] + ")" }, mark);
    return mark;
  }

  /** A row of steps of the blue scale with texts below; `colours` are names of variables. */
  function scaleRow(title, texts, colours) {
    const scale = watch.html("span", { class: "scale" }, keyRow(title));
    texts.forEach((text, i) => {
      watch.html("span", { text, class: "step " + colours[i] }, scale);
    });
  }

  watch.stateLegend = function (run) {
    if (!run.has.s) return;
    const list = watch.html("ul", { class: "legend" }, keyRow("agents"));
    for (const state of STATES) {
      legendItem(list, state, watch.stateName(state), watch.icon(state));
    }
    if (run.has.v) legendItem(list, "n", "unreachable", watch.icon("n"));
  };

  watch.edgeLegend = function (run) {
    const list = watch.html("ul", { class: "legend" }, keyRow("edges"));
    if (run.has.g) {
      legendItem(list, "arrived", "arrived", arrow("arrived"));
      if (run.has.q) legendItem(list, "silent", "not received", arrow("silent"));
    } else if (run.has.q) legendItem(list, "scheduled", "scheduled", arrow("scheduled"));
    if (run.has.p) legendItem(list, "parked", "mass parked", arrow("parked"));
  };

  watch.metricLegend = function (run) {
    if (!run.has.e) return;
    const { top, step } = metricScale(run);
    const texts = [0, 1, 2, 3, 4, 5, 6].map(i => watch.short(10 ** (top - i * step)));
    scaleRow(run.hello.metric || "metric", texts, texts.map((_, i) => "e" + i));
  };

  /** The blue scale begins at the first value of the run and reaches the target. */
  function metricScale(run) {
    if (run.scale) return run.scale;
    const first = run.frames.find(frame => frame.first);
    if (!first) return { top: 0, step: 1 };
    const top = Math.round(first.first.high / 100);
    const goal = run.hello.target ? Math.log10(run.hello.target) : top - 6;
    run.scale = { top, step: watch.clamp(Math.ceil((top - goal) / 6), 1, 4) };
    return run.scale;
  }

  /** Step of the blue scale, 0 to 6, of a value that is stored as 100·log10. */
  watch.stepOf = function (run, c) {
    const { top, step } = metricScale(run);
    return watch.clamp(Math.round((top - c / 100) / step), 0, 6);
  };

  watch.ageLegend = function (run) {
    const period = watch.period(run);
    const texts = [1, 2, 4, 8, 16].map(m => "≤" + m * period).concat("more");
    scaleRow("rounds", texts, texts.map((_, i) => "e" + (5 - i)));
    const list = watch.html("ul", { class: "legend" }, keyRow("edges"));
    const swatch = kind => watch.html("i", { class: "swatch " + kind });
    if (run.has.p) legendItem(list, "parked", "mass parked", swatch("parked"));
    if (run.has.s) legendItem(list, "none", "receiver down", swatch("none"));
  };

  watch.setCount = (name, value) => counters[name] && setText(counters[name], watch.whole(value));

  /** Counts of agents by state, for the legend. */
  watch.countStates = function (frame) {
    if (!frame.s) return;
    const counts = { u: 0, j: 0, s: 0, d: 0 };
    for (const state of frame.s) if (state in counts) counts[state] += 1;
    for (const state of STATES) watch.setCount(state, counts[state]);
    if (frame.v) watch.setCount("n", frame.v.split("n").length - 1);
  };

  /** One line about an agent that is pointed at. */
  watch.agentLine = function (run, frame, a) {
    const parts = [watch.stateName(frame.s ? frame.s[a] : "")];
    if (!frame.s) parts.pop();
    if (!watch.isSeen(frame, a)) parts.push("unreachable for the watcher");
    if (frame.e && !Number.isNaN(frame.e[a])) {
      parts.push((run.hello.metric || "metric") + " " + watch.fromLog(frame.e[a]));
    }
    if (frame.a && !Number.isNaN(frame.a[a])) {
      parts.push("oldest source " + watch.rounds(frame.a[a]));
    }
    const title = watch.capital(watch.agentText(run, a));
    return parts.length ? title + ": " + parts.join(", ") : title;
  };

  let shown = null;

  watch.sections.push({
    id: "network",
    has: run => run.from.length > 0 && (run.n > MOST_IN_GRAPH ? run.has.g || run.has.p
      : run.has.q || run.has.g || run.has.p),
    build(run) {
      const large = run.n > MOST_IN_GRAPH;
      setText(byId("network-title"), large ? "Age of messages" : "Messages of this round");
      byId("stage").replaceChildren();
      byId("network-keys").replaceChildren();
      for (const name in counters) delete counters[name];
      shown = large ? watch.matrix : watch.graph;
      shown.build(run, byId("stage"));
    },
    draw: (run, frame) => shown.draw(run, frame),
  });
})(watch);
