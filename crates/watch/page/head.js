// Head of the page: title, verdict and figures.
(function (watch) {
  "use strict";

  const { byId, setText, setFigure } = watch;
  const SOURCES = { run: "simulation", seed: "fault simulation with injected faults" };

  function sourceText(run) {
    if (run.hello.source === "nodes") return watch.link.live ? "live nodes" : "recorded nodes";
    return SOURCES[run.hello.source] || "";
  }

  watch.buildHead = function (run) {
    const h = run.hello;
    const work = h.problem && h.method ? h.problem + " by " + h.method : h.problem || h.method;
    const loss = h.loss ? watch.plain(h.loss * 100) + watch.NBSP + "% message loss" : "";
    const parts = [h.run, work, h.topology, watch.count(run.n, "agent"), loss, sourceText(run)];
    setText(byId("about"), parts.filter(Boolean).join(" · "));
    document.title = (h.run ? h.run + " · " : "") + "fabnet watch";
  };

  let said = { word: "", when: -1e9 };

  /** A screen reader hears the verdict when its word changes, every 4 s at most. */
  function announce(verdict, sentence) {
    const now = performance.now();
    if (said.word === verdict.word || now - said.when < 4000) return;
    said = { word: verdict.word, when: now };
    byId("say").textContent = sentence;
  }

  watch.drawVerdict = function (run, i) {
    const verdict = watch.judge(run, i, watch.link);
    const sentence = verdict.word + ": " + verdict.rest + ".";
    const heading = byId("verdict-text");
    if (heading.shownText !== sentence) {
      heading.shownText = sentence;
      const word = watch.html("b", { text: verdict.word });
      heading.replaceChildren(word, ": " + verdict.rest + ".");
    }
    const icon = byId("verdict-icon");
    if (icon.shownKind !== verdict.kind) {
      icon.shownKind = verdict.kind;
      icon.replaceChildren(watch.icon(verdict.kind));
    }
    setText(byId("verdict-why"), verdict.why);
    announce(verdict, sentence);
    return verdict;
  };

  /** Rate of a counter over the last four frames, per second; NaN if it cannot be told. */
  function rate(run, i, key) {
    const [old, now] = [run.frames[Math.max(0, i - 4)], run.frames[i]];
    return now.t > old.t ? (now[key] - old[key]) / (now.t - old.t) : NaN;
  }

  function memberNote(run, frame, { roll }) {
    // Names are in the verdict; here is room for a number.
    const who = list => (list.length === 1 ? "agent " + list[0] : watch.agentsText(run, list));
    if (roll.off.length) {
      const states = new Set(roll.off.map(a => watch.stateName(frame.s[a])));
      return who(roll.off) + " " + [...states].join(" or ");
    }
    if (roll.unseen.length) return who(roll.unseen) + " unreachable";
    if (roll.joining.length) return who(roll.joining) + " joining";
    return roll.left.length ? who(roll.left) + " left" : "all running";
  }

  const metricName = run => run.hello.metric || "metric";

  /** The newest epoch that any agent reports, as text. */
  function epochText(field) {
    if (field === undefined) return "";
    const epoch = typeof field === "number" ? field
      : Math.max(...field.filter(x => !Number.isNaN(x)));
    return Number.isFinite(epoch) ? "epoch " + epoch : "";
  }

  const FIGURES = [
    { title: () => "Members", has: run => run.has.s,
      value: (run, f, i, v) => (f.s ? [String(v.roll.up), "of " + (run.n - v.roll.left.length)]
        : ["–", ""]),
      note: (run, f, i, v) => memberNote(run, f, v) },
    { title: () => "Seen by the watcher", has: run => run.has.v && !run.has.s,
      value: (run, f, i, v) => [String(run.n - v.roll.unseen.length), "of " + run.n],
      note: (run, f, i, v) => (v.roll.unseen.length
        ? watch.agentsText(run, v.roll.unseen) + " unreachable" : "all") },
    { title: () => "Round", has: () => true,
      value: (run, f) => [watch.whole(f.k), ""],
      note: (run, f) => [run.hello.rounds ? "of " + watch.whole(run.hello.rounds) : "",
        epochText(f.ep)].filter(Boolean).join(" · ") },
    { title: run => (run.has.e ? "Worst " : "") + metricName(run), wide: true,
      has: run => run.has.e || run.has.x0,
      value: (run, f) => [f.first ? watch.fromLog(f.first.high) : "–", ""],
      note: (run, f) => [f.first && f.first.who >= 0 ? "agent " + f.first.who : "",
        run.hello.target ? "target " + watch.short(run.hello.target) : ""]
        .filter(Boolean).join(" · ") },
    { title: () => "Rounds per second", has: run => run.clock === "s",
      value: (run, f, i) => {
        const r = rate(run, i, "k");
        return [r > 0 ? r.toFixed(r < 9.95 ? 2 : 1) : "–", ""];
      },
      note: (run, f, i) => {
        const r = rate(run, i, "k");
        return r > 0 ? (1000 / r).toFixed(1) + " ms a round" : "";
      } },
    { title: () => "Sent", has: run => run.has.b,
      value: (run, f) => (f.b === undefined ? ["–", ""] : watch.bytes(f.b)),
      note: (run, f, i) => {
        const seconds = run.clock === "s";
        const r = seconds ? rate(run, i, "b") : f.b / f.k;
        return r >= 0 ? watch.bytes(r).join(" ") + (seconds ? "/s" : " a round") : "";
      } },
    { title: () => "Mass residual", has: run => run.has.m || run.has.mx,
      value: (run, f) => (f.m === undefined ? ["–", ""]
        : [watch.whole(f.m), f.m ? "× " + run.unit : ""]),
      note: (run, f) => (f.mx === undefined ? "" : "largest ever " + watch.whole(f.mx)),
      alarm: (run, f) => Boolean(f.m || f.mx) },
  ];

  let figures = [];

  watch.buildFigures = function (run) {
    figures = FIGURES.filter(spec => spec.has(run)).map(spec => {
      const box = watch.html("div", { class: spec.wide ? "figure wide" : "figure" });
      watch.html("dt", { text: watch.capital(spec.title(run)) }, box);
      const big = watch.html("dd", { class: "big" }, box);
      const spark = spec.wide ? sparkline(watch.html("dd", { class: "spark" }, box)) : null;
      const note = watch.html("dd", { class: "note" }, box);
      return { spec, box, big, note, spark };
    });
    byId("figures").replaceChildren(...figures.map(figure => figure.box));
  };

  function sparkline(parent) {
    const box = watch.svg("svg", { viewBox: "0 0 118 30", preserveAspectRatio: "none",
      "aria-hidden": "true" }, parent);
    const line = watch.svg("path", { class: "line" }, box);
    const dot = watch.svg("path", { class: "dot" }, box);
    return { line, dot };
  }

  function drawSpark(run, i, { line, dot }) {
    const step = Math.max(1, Math.ceil(i / 118));
    const points = [];
    for (let j = i % step; j <= i; j += step) {
      if (run.frames[j].first) points.push([j, run.frames[j].first.high / 100]);
    }
    const values = points.map(point => point[1]);
    const low = Math.min(...values);
    const height = Math.max(0.5, Math.max(...values) - low);
    const place = ([j, v]) => ((118 * j) / Math.max(1, i)).toFixed(1) + " " +
      (27 - (24 * (v - low)) / height).toFixed(1);
    line.setAttribute("d", points.map((p, n) => (n ? "L" : "M") + place(p)).join(""));
    const end = points[points.length - 1];
    dot.setAttribute("d", end ? "M" + place(end) + "h.01" : "");
  }

  watch.drawFigures = function (run, frame, i, verdict) {
    for (const { spec, box, big, note, spark } of figures) {
      const [figure, unit] = spec.value(run, frame, i, verdict);
      setFigure(big, figure, unit);
      setText(note, spec.note(run, frame, i, verdict));
      if (spark) drawSpark(run, i, spark);
      if (spec.alarm) box.classList.toggle("alarm", spec.alarm(run, frame));
    }
  };
})(watch);
