// The panel of one agent: its numbers, neighbours, times, curves and events.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const MOST_EDGES = 32;
  const MOST_EVENTS = 120;
  const HEIGHT = 120;

  const state = { opener: null, parts: {}, chart: null, built: "" };

  watch.openDay = function (a, opener) {
    // After a new hello, the page may still show agents that are no longer there.
    if (!watch.shownFrame() || a >= watch.run.n) return;
    const box = byId("day");
    if (box.hidden) state.opener = opener;
    const held = box.contains(document.activeElement) ? document.activeElement.id : "";
    watch.view.selected = a;
    box.hidden = false;
    document.body.classList.add("pushed");
    build(watch.run, a);
    const again = held && byId(held);
    if (again) again.focus();
    else box.focus({ preventScroll: true });
    box.scrollTop = 0;
    watch.resized();
  };

  /** Closes the panel; true if it was open. Focus goes back to what had opened it. */
  watch.closeDay = function (focus) {
    const box = byId("day");
    if (box.hidden) return false;
    box.hidden = true;
    document.body.classList.remove("pushed");
    watch.view.selected = null;
    if (state.chart) state.chart.remove();
    state.chart = null;
    if (focus && state.opener && state.opener.isConnected) {
      state.opener.focus({ preventScroll: true });
    }
    watch.resized();
    return true;
  };

  function button(parent, id, icon, label, act) {
    const node = watch.html("button", { type: "button", class: "button", id, "aria-label": label },
      parent);
    node.append(watch.icon(icon));
    node.addEventListener("click", act);
  }

  /** A part of the panel with a heading; hidden by its own drawing if it has nothing. */
  function part(box, name, title, tag, attributes) {
    const section = watch.html("section", {}, box);
    const heading = watch.html("h3", { text: title }, section);
    state.parts[name] = { section, heading, body: watch.html(tag, attributes || {}, section) };
  }

  function build(run, a) {
    const box = byId("day");
    if (state.chart) state.chart.remove();
    state.chart = null;
    state.parts = {};
    state.built = watch.reported(run);
    box.replaceChildren();
    const bar = watch.html("div", { class: "bar" }, box);
    watch.html("h2", { id: "day-title", text: "Agent " + a }, bar);
    state.mark = watch.html("span", { class: "state" }, bar);
    const go = step => watch.openDay((a + step + run.n) % run.n, null);
    const tools = watch.html("span", { class: "tools" }, bar);
    button(tools, "day-previous", "left", "Previous agent", () => go(-1));
    button(tools, "day-next", "right", "Next agent", () => go(1));
    button(tools, "day-close", "close", "Close", () => watch.closeDay(true));
    if (run.named) watch.html("p", { class: "node-name", text: run.hello.names[a] }, box);
    state.facts = watch.html("dl", { class: "facts" }, box);
    part(box, "into", "Receives from: rounds since a message was used", "ul", { class: "edges" });
    part(box, "out", "Sends to: rounds since a message was used", "ul", { class: "edges" });
    part(box, "times", "Its last 20 rounds, means in ms", "canvas", { role: "img" });
    state.means = watch.html("ul", { class: "legend" }, state.parts.times.section);
    part(box, "curve", "Its convergence", "div", { class: "chart" });
    part(box, "events", "Its events", "ol", { class: "life" });
    if (run.has.e || run.has.d) makeCurve(run, a);
    state.parts.curve.section.hidden = !state.chart;
    state.events = "";
  }

  function makeCurve(run, a) {
    const fields = [];
    if (run.has.e) fields.push({ field: "e", style: "one", name: run.hello.metric || "metric" });
    if (run.has.d) fields.push({ field: "d", style: "other", name: "disagreement" });
    state.chart = watch.newChart(state.parts.curve.body, { ...watch.chartBasics(run), title: "",
      series: fields, log: true, axis: true, space: 64, height: () => 150, sync: "day",
      ground: "raised" });
    state.chart.data = () => [run.frames.map(frame => frame.k),
      ...fields.map(({ field }) => run.frames.map(watch.agentSeries(field, a)))];
    state.chart.describe("Metric and disagreement of agent " + a + " over the run");
  }

  function drawFacts(run, frame, a) {
    const columns = watch.factColumns(run);
    if (state.facts.children.length !== columns.length) {
      state.facts.replaceChildren(...columns.map(column => {
        const box = watch.html("div", {});
        watch.html("dt", { text: column.key === "checkpoint" ? "Last checkpoint"
          : column.name(run) }, box);
        watch.html("dd", {}, box);
        return box;
      }));
    }
    columns.forEach((column, i) => setText(state.facts.children[i].lastChild,
      watch.cellText(run, frame, column, a)));
  }

  /** Neighbours on one side, oldest first: age as a bar, parked mass beside it. */
  function drawEdges(run, frame, name, edges, other) {
    const { section, body } = state.parts[name];
    section.hidden = !edges.length || !(run.has.g || run.has.p);
    if (section.hidden) return;
    const parked = new Map(frame.p || []);
    const rows = edges.map(e => ({ e, age: watch.ageOf(run, frame, e), mass: parked.get(e) }));
    rows.sort((p, q) => (q.mass !== undefined) - (p.mass !== undefined) ||
      other[p.e] - other[q.e]);
    const late = 12 * watch.period(run);
    const items = rows.slice(0, MOST_EDGES).map(({ e, age, mass }) => {
      const kind = mass !== undefined ? " parked" : age > late ? " late" : "";
      const item = watch.html("li", { class: "edge" + kind });
      watch.html("span", { text: (name === "into" ? "from " : "to ") + other[e] }, item);
      const bar = watch.html("i", {}, item);
      bar.style.width = Number.isNaN(age) ? "0"
        : watch.clamp((100 * Math.log2(1 + age)) / 10, 1, 100).toFixed(0) + "%";
      const ages = Number.isNaN(age) ? "" : watch.rounds(age);
      const masses = mass === undefined ? "" : "mass " + watch.sci(mass);
      watch.html("span", { text: [masses, ages].filter(Boolean).join(" · ") || "–" }, item);
      return item;
    });
    if (rows.length > MOST_EDGES) {
      items.push(watch.html("li", { class: "muted",
        text: "and " + (rows.length - MOST_EDGES) + " more" }));
    }
    body.replaceChildren(...items);
  }

  function drawTimes(run, frame, i, a) {
    const { section, body } = state.parts.times;
    section.hidden = !run.has.w;
    if (section.hidden) return;
    const rounds = watch.timesOf(run, i, a, 20).filter(row => row.some(t => t > 0));
    const width = section.clientWidth;
    const context = watch.fitCanvas(body, width, rounds.length ? HEIGHT : 1);
    const means = watch.PARTS.map((_, p) => rounds.reduce((t, row) => t + row[p], 0) /
      Math.max(1, rounds.length) / 1000);
    const text = watch.PARTS.map((name, p) => name + " " + means[p].toFixed(1)).join(", ");
    body.setAttribute("aria-label", rounds.length ? "Mean times in milliseconds: " + text
      : "No times");
    if (!rounds.length) {
      state.means.replaceChildren(watch.html("li", { text: frame.w && frame.w.agents &&
        !frame.w.agents.includes(a) ? "Its times are not in this frame." : "No rounds." }));
      return;
    }
    state.means.replaceChildren(...watch.PARTS.map((name, p) => {
      const item = watch.html("li", {});
      watch.html("i", { class: "swatch " + name }, item);
      item.append(name + " ");
      watch.html("b", { text: means[p].toFixed(1) }, item);
      return item;
    }));
    if (context) drawBars(context, rounds, width);
  }

  function drawBars(context, rounds, width) {
    const colours = watch.colours();
    const longest = Math.max(...rounds.map(row => row.reduce((t, x) => t + x, 0)));
    const step = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8]
      .find(v => longest / v < 4.5) || longest;
    const top = longest * 1.08;
    const y = us => HEIGHT - 8 - (us / top) * (HEIGHT - 14);
    context.font = watch.font(11);
    context.textAlign = "right";
    for (let v = 0; v <= top; v += step) {
      context.fillStyle = colours.line;
      context.fillRect(34, Math.round(y(v)), width - 34, 1);
      context.fillStyle = colours.muted;
      context.fillText(v ? v / 1000 : "0 ms", 29, y(v));
    }
    const wide = (width - 36) / 20;
    rounds.forEach((row, j) => {
      let from = 0;
      for (const p of [0, 2, 3, 1]) { // Work below, waiting above it.
        context.fillStyle = colours[watch.PARTS[p]];
        const x = 36 + (20 - rounds.length + j) * wide;
        context.fillRect(x, y(from + row[p]), Math.max(1, wide - 2), y(from) - y(from + row[p]));
        from += row[p];
      }
    });
  }

  /** Events of the agent; reversals that come together are one line. */
  function collectEvents(run, a) {
    const told = [];
    for (const event of run.events) {
      if (!watch.concerns(event, a)) continue;
      const last = told[told.length - 1];
      const passive = event.other === a;
      const partner = passive ? event.agent : event.other;
      const joins = last && last.event.kind === event.kind && event.kind === "reversal" &&
        last.passive === passive && run.clock === "s" && event.t - last.event.t < 1;
      if (joins) last.partners.add(partner);
      else told.push({ event, passive, partners: new Set([partner]) });
    }
    return told.slice(-MOST_EVENTS);
  }

  function eventLine(run, { event, passive, partners }) {
    const all = [...partners].filter(p => p !== undefined).sort((x, y) => x - y);
    if (event.kind === "reversal" && all.length) {
      const who = watch.agentsText(run, all);
      const does = all.length === 1 ? " reverses its" : " reverse their";
      return passive ? watch.capital(who) + does + " edges with it"
        : "Reverses its edges with " + who;
    }
    const text = watch.eventLine(run, event);
    const own = !passive && event.agent !== undefined;
    const self = own ? watch.capital(watch.agentText(run, event.agent)) + " " : "";
    return own && text.startsWith(self) ? watch.capital(text.slice(self.length)) : text;
  }

  function drawEvents(run, frame, a) {
    const { section, body } = state.parts.events;
    const key = [run.version, frame.t].join();
    if (state.events === key) return;
    state.events = key;
    const told = collectEvents(run, a);
    section.hidden = !told.length;
    body.replaceChildren(...told.reverse().map(line => {
      const later = line.event.t > frame.t && watch.view.i < run.frames.length - 1;
      const item = watch.html("li", { class: later ? "later" : "" });
      watch.html("span", { text: watch.moment(run, line.event.t) }, item);
      item.append(eventLine(run, line));
      return item;
    }));
  }

  watch.drawDay = function (run, frame, i) {
    const a = watch.view.selected;
    if (a === null) return;
    if (state.built !== watch.reported(run)) build(run, a);
    const letter = watch.shownState(run, frame, a, watch.roll(run, frame).left);
    state.mark.replaceChildren();
    if (frame.s || frame.v) {
      state.mark.append(watch.icon(letter === "?" ? "n" : letter), letter === "n"
        ? "unreachable" : watch.stateName(letter));
    }
    drawFacts(run, frame, a);
    drawEdges(run, frame, "into", run.into[a], run.from);
    drawEdges(run, frame, "out", run.out[a], run.to);
    drawTimes(run, frame, i, a);
    if (state.chart) {
      state.chart.resize();
      state.chart.setData(state.chart.data(), i);
    }
    drawEvents(run, frame, a);
  };
})(watch);
