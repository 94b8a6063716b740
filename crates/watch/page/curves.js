// Convergence: first metric, disagreement and further metrics by rounds, time or bytes.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800,
    86400, 172800, 604800];
  const POWERS = Array.from({ length: 18 }, (_, p) => [1, 2, 5].map(m => m * 10 ** p)).flat();

  let charts = [];
  let points = { x: [], frames: [], place: [] };
  let drawn = { version: -1, x: "", selected: -2, run: null };

  /** Frames with a known x that does not fall, since curves need a sorted axis. */
  function collect(run) {
    const key = watch.view.x;
    const found = { x: [], frames: [], place: [] };
    run.frames.forEach((frame, i) => {
      const x = frame[key];
      const last = found.x[found.x.length - 1];
      if (x !== undefined && (last === undefined || x >= last)) {
        found.x.push(x);
        found.frames.push(i);
      }
      found.place.push(Math.max(0, found.x.length - 1));
    });
    return found;
  }

  function axisText(run, key, x, step) {
    if (key === "b") return x ? watch.bytes(x).map((v, i) => (i ? v : Number(v))).join(" ") : "0 B";
    if (key === "k") return watch.whole(x);
    if (run.clock !== "s") return watch.whole(x);
    if (step >= 86400) return x / 86400 + " d";
    if (step >= 3600) return x / 3600 + " h";
    return step >= 60 ? x / 60 + " min" : x + " s";
  }

  /** Texts of the axis; the first one has the unit if the others do not. */
  function axisTexts(run, key, splits) {
    const step = splits.length > 1 ? splits[1] - splits[0] : 1;
    const unit = key === "k" ? " rounds" : key === "t" && run.clock !== "s" ? " " + run.clock : "";
    return splits.map((x, i) => axisText(run, key, x, step) + (i ? "" : unit));
  }

  /** What charts over the chosen axis have in common. */
  const basics = run => ({
    increments: () => () => (watch.view.x === "t" && run.clock === "s" ? SECONDS : POWERS),
    xTexts: splits => axisTexts(run, watch.view.x, splits),
    seek: index => watch.seek(points.frames[index]),
  });

  /** The same for charts of all frames over rounds. */
  watch.chartBasics = run => ({
    increments: () => POWERS,
    xTexts: splits => axisTexts(run, "k", splits),
    seek: watch.seek,
  });

  const tall = base => () => (window.innerWidth <= 960 ? base * 0.78
    : window.innerWidth >= 1900 ? base * 1.2 : base);

  const values = (run, pick) => points.frames.map(i => pick(run.frames[i]));

  function summarySeries(name) {
    const at = (frame, key) => (frame[name] ? frame[name][key] / 100 : undefined);
    return ["high", "middle", "low"].map(key => frame => at(frame, key));
  }

  /** Values of one agent: undefined if not reported, null (a gap) while it is down. */
  watch.agentSeries = (field, a) => frame => (frame[field] === undefined ? undefined
    : watch.isUp(frame, a) && !Number.isNaN(frame[field][a]) ? frame[field][a] / 100 : null);

  function deathsOf(run) {
    const key = watch.view.x;
    const kills = run.events.filter(e => e.kind === "kill").slice(-500);
    return kills.map(e => (key === "t" ? e.t : key === "k" && e.k !== undefined ? e.k
      : run.frames[watch.frameAt(run, e.t)][key])).filter(x => x !== undefined);
  }

  function makeMain(run, box, options) {
    const { name, field, title, axis, target } = options;
    const agents = run.has[field];
    const series = agents ? [{ style: "worst", name: "worst" }, { style: "median", name: "median" },
      { style: "low" }, { style: "one", name: "" }] : [{ style: "worst", name: "" }];
    const chart = watch.newChart(box, { ...basics(run), title, series, axis, target,
      log: true, space: 70, height: () => Math.round(tall(240)() + (axis ? 24 : 8)),
      deaths: () => deathsOf(run) });
    const [high, middle, low] = summarySeries(name);
    chart.data = () => {
      const picks = agents ? [high, middle, low] : [high];
      const a = watch.view.selected;
      const rows = picks.map(pick => values(run, pick));
      if (agents) rows.push(a === null ? points.x.map(() => undefined)
        : values(run, watch.agentSeries(field, a)));
      return [points.x, ...rows];
    };
    chart.select = () => {
      const a = watch.view.selected;
      if (agents) chart.setSeries(3, a !== null, a === null ? "" : "agent " + a);
    };
    chart.about = title;
    return chart;
  }

  /** A further metric is logarithmic if all values are positive and span a factor of 30. */
  function isLog(run, name) {
    let [low, high] = [Infinity, -Infinity];
    for (const frame of run.frames) {
      const x = frame.mm ? frame.mm[name] : undefined;
      if (x === undefined) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    return low > 0 && high > 30 * low;
  }

  function makeSmall(run, name) {
    const box = watch.html("div", { class: "chart small" }, byId("small-charts"));
    const log = isLog(run, name);
    const chart = watch.newChart(box, { ...basics(run), title: name, log,
      series: [{ style: "worst", name: "" }], axis: true, space: 64, height: () => 132 });
    const pick = frame => {
      const x = frame.mm ? frame.mm[name] : undefined;
      return x === undefined || !log ? x : x > 0 ? Math.log10(x) : null;
    };
    chart.data = () => [points.x, values(run, pick)];
    chart.select = () => {};
    chart.wrongScale = () => isLog(run, name) !== log;
    chart.about = name;
    return chart;
  }

  function axisChoices(run) {
    const choices = [["k", "rounds"]];
    if (run.clock !== "rounds") choices.push(["t", run.clock === "s" ? "seconds" : "ticks"]);
    if (run.has.b) choices.push(["b", "bytes"]);
    if (!choices.some(([key]) => key === watch.view.x)) watch.view.x = "k";
    const box = byId("axis");
    box.hidden = choices.length < 2;
    box.replaceChildren(box.firstElementChild);
    for (const [key, text] of choices) {
      const label = watch.html("label", {}, box);
      const input = watch.html("input", { type: "radio", name: "x", value: key }, label);
      input.checked = key === watch.view.x;
      input.addEventListener("change", () => {
        watch.view.x = key;
        watch.drawSoon();
      });
      watch.html("span", { text }, label);
    }
  }

  function build(run) {
    for (const chart of charts) chart.remove();
    byId("charts").replaceChildren();
    byId("small-charts").replaceChildren();
    axisChoices(run);
    const { target, metric } = run.hello;
    const main = [];
    if (run.has.e || run.has.x0) {
      main.push({ name: "first", field: "e", title: watch.capital(metric || "metric"),
        target: target ? Math.log10(target) : undefined });
    }
    if (run.has.d) {
      main.push({ name: "disagreement", field: "d", title: "Disagreement between agents" });
    }
    charts = main.map((options, i) => {
      const box = watch.html("div", { class: "chart" }, byId("charts"));
      return makeMain(run, box, { ...options, axis: i === main.length - 1 });
    }).concat(run.metrics.map(name => makeSmall(run, name)));
    drawn = { version: -1 };
    const range = run.has.e || run.has.d ? "worst, median and range of all agents" : "";
    const ticks = run.kinds.has("kill") ? "red ticks are deaths" : "";
    setText(byId("curves-about"), [range, ticks].filter(Boolean).join("; "));
  }

  function describe(run, chart, data) {
    const known = data[1].filter(y => y !== undefined && y !== null);
    const log = chart.wrongScale ? isLog(run, chart.about) : true;
    const text = y => watch.valueText(log, y);
    chart.describe(known.length ? chart.about + " over the run: from " + text(known[0]) + " to " +
      text(known[known.length - 1]) : chart.about + ": no values yet");
  }

  function draw(run, frame, i) {
    const { x, selected } = watch.view;
    if (charts.some(chart => chart.wrongScale && chart.wrongScale())) build(run);
    const same = drawn.run === run && drawn.version === run.version && drawn.x === x &&
      drawn.selected === selected;
    if (!same) points = collect(run);
    const index = points.x.length ? points.place[i] : null;
    for (const chart of charts) {
      chart.resize();
      if (same) chart.moveTo(index);
      else {
        const data = chart.data();
        chart.select();
        chart.setData(data, index);
        describe(run, chart, data);
      }
    }
    drawn = { run, version: run.version, x, selected };
  }

  watch.sections.push({
    id: "curves",
    has: run => run.has.e || run.has.x0 || run.has.d || run.metrics.length > 0,
    key: run => [watch.reported(run), run.kinds.has("kill"), ...run.metrics].join(),
    build, draw,
  });
})(watch);
