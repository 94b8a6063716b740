// Table of the agents. Rows are boxes of fixed size, so that a number that changes moves
// nothing else; roles keep it a table for screen readers.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const ROW = 29;
  const known = x => x !== undefined && !Number.isNaN(x);
  const of = (frame, key, a) => watch.valueOf(frame[key], a);
  const show = (x, text) => (known(x) ? text(x) : "–");

  /** Columns: `get` is a number to sort by, `text` what is shown, `mark` a class for emphasis. */
  const COLUMNS = [
    { key: "agent", name: () => "Agent", width: 7, has: () => true, get: (run, f, a) => a },
    { key: "name", name: () => "Name", width: 14, left: true, has: run => run.named,
      get: (run, f, a) => run.nameOrder[a], text: (run, f, a) => run.hello.names[a] },
    { key: "state", name: () => "State", width: 12, left: true, has: run => run.has.s || run.has.v,
      get: (run, f, a) => "dsnlju".indexOf(watch.shownState(run, f, a, run.leftNow)) },
    { key: "round", name: () => "Round", width: 9, has: run => run.has.r,
      get: (run, f, a) => f.k - of(f, "r", a),
      text: (run, f, a) => show(of(f, "r", a), r => watch.whole(f.k - r)),
      mark: (run, f, a) => (of(f, "r", a) > 20 ? "hot" : "") },
    { key: "epoch", name: () => "Epoch", width: 8, has: run => run.has.ep,
      get: (run, f, a) => of(f, "ep", a),
      text: (run, f, a) => show(of(f, "ep", a), watch.whole) },
    { key: "life", name: () => "Incarnation", width: 11, has: run => run.has.li, falls: true,
      get: (run, f, a) => of(f, "li", a),
      text: (run, f, a) => show(of(f, "li", a), watch.incarnation),
      mark: (run, f, a) => (of(f, "li", a) > 1 ? "" : "dim") },
    { key: "metric", name: run => watch.capital(run.hello.metric || "metric"), width: 12,
      has: run => run.has.e, falls: true, get: (run, f, a) => of(f, "e", a),
      text: (run, f, a) => show(of(f, "e", a), watch.fromLog), live: true },
    { key: "disagreement", name: () => "Disagreement", width: 12.5, has: run => run.has.d,
      falls: true, get: (run, f, a) => of(f, "d", a),
      text: (run, f, a) => show(of(f, "d", a), watch.fromLog), live: true },
    { key: "age", name: () => "Oldest source", width: 12, has: run => run.has.a, falls: true,
      get: (run, f, a) => of(f, "a", a), live: true,
      text: (run, f, a) => show(of(f, "a", a), watch.rounds),
      mark: (run, f, a) => (of(f, "a", a) > 12 * watch.period(run) ? "note" : "") },
    { key: "step", name: () => "Step size", width: 10, has: run => run.has.h,
      get: (run, f, a) => of(f, "h", a), live: true,
      text: (run, f, a) => show(of(f, "h", a), watch.plain),
      mark: (run, f, a) => (typeof f.h !== "number" && of(f, "h", a) < run.usualStep
        ? "note" : "") },
    { key: "checkpoint", name: () => "Checkpoint", width: 11, has: run => run.has.c, falls: true,
      get: (run, f, a) => of(f, "c", a),
      text: (run, f, a) => show(of(f, "c", a), c => watch.checkpointAge(run, c)) },
    { key: "refusals", name: () => "Refusals", width: 9, has: run => run.has.rf, falls: true,
      get: (run, f, a) => of(f, "rf", a), text: (run, f, a) => show(of(f, "rf", a), watch.whole),
      mark: (run, f, a) => (of(f, "rf", a) > 0 ? "note" : "dim") },
  ];

  const state = { columns: [], rows: [], order: [], sort: { key: "agent", up: true },
    sorted: 0, drawn: 0 };

  /** Text of a column; what only makes sense while an agent runs is a dash if it is down. */
  watch.cellText = (run, frame, column, a) => (column.live && !watch.isUp(frame, a) ? "–"
    : column.text(run, frame, a));

  watch.factColumns = run => COLUMNS.filter(column => column.text && column.key !== "name" &&
    column.has(run));

  function makeHead(run) {
    const row = watch.html("tr", { role: "row" });
    for (const column of state.columns) {
      const cell = watch.html("th", { scope: "col", role: "columnheader",
        class: column.left ? "left" : "" }, row);
      const button = watch.html("button", { type: "button", text: column.name(run) }, cell);
      column.arrow = watch.html("i", { "aria-hidden": "true" }, button);
      column.cell = cell;
      button.addEventListener("click", () => {
        const same = state.sort.key === column.key;
        state.sort = { key: column.key, up: same ? !state.sort.up : !column.falls };
        const frame = watch.shownFrame();
        if (frame) sortRows(watch.run, frame, true);
      });
    }
    return row;
  }

  function makeRow(run, a) {
    const row = watch.html("tr", { role: "row" });
    const head = watch.html("th", { scope: "row", role: "rowheader" }, row);
    const button = watch.html("button", { type: "button", text: a,
      "aria-label": "Open agent " + a }, head);
    const cells = state.columns.slice(1).map(column => {
      const cell = watch.html("td", { role: "cell", class: column.left ? "left" : "" }, row);
      if (column.key === "name") cell.title = run.hello.names[a];
      return cell;
    });
    row.addEventListener("click", () => watch.openDay(a, button));
    return { a, row, cells };
  }

  function build(run) {
    state.columns = COLUMNS.filter(column => column.has(run));
    if (!state.columns.some(column => column.key === state.sort.key)) {
      state.sort = { key: "agent", up: true };
    }
    if (run.named) {
      const order = run.hello.names.map((_, a) => a)
        .sort((a, b) => run.hello.names[a].localeCompare(run.hello.names[b]));
      run.nameOrder = [];
      order.forEach((a, i) => {
        run.nameOrder[a] = i;
      });
    }
    const table = byId("agents-table");
    table.tHead.replaceChildren(makeHead(run));
    state.rows = Array.from({ length: run.n }, (_, a) => makeRow(run, a));
    state.order = state.rows.slice();
    table.tBodies[0].replaceChildren(...state.rows.map(row => row.row));
    const widths = state.columns.map(column => column.width);
    const sum = widths.reduce((total, w) => total + w, 0);
    table.style.setProperty("--columns", widths.map(w => w + "fr").join(" "));
    table.style.minWidth = Math.round(sum * 9.8) + "px";
    byId("agents-scroll").classList.toggle("tall", run.n > 50);
    state.sorted = 0;
    listen();
    sortRows(run, watch.shownFrame(), true);
  }

  function listen() {
    const scroll = byId("agents-scroll");
    if (scroll.listening) return;
    scroll.listening = true;
    scroll.addEventListener("scroll", () => {
      state.drawn = 0;
      watch.drawSoon();
    }, { passive: true });
  }

  const compare = (x, y, up) => (!known(x) ? (known(y) ? 1 : 0) : !known(y) ? -1
    : up ? x - y : y - x);

  /** Sorts every 2 s at most, and never under the pointer or the focus. */
  function sortRows(run, frame, force) {
    const column = state.columns.find(c => c.key === state.sort.key);
    const body = byId("agents-table").tBodies[0];
    for (const c of state.columns) {
      if (c !== column) c.cell.removeAttribute("aria-sort");
      else c.cell.setAttribute("aria-sort", state.sort.up ? "ascending" : "descending");
      setText(c.arrow, c === column ? (state.sort.up ? "▲" : "▼") : "");
    }
    const held = body.matches(":hover") || body.contains(document.activeElement);
    if (!force && (column.key === "agent" || held || performance.now() - state.sorted < 2000)) {
      return;
    }
    state.sorted = performance.now();
    prepare(run, frame);
    const value = new Map(state.rows.map(row => [row, column.get(run, frame, row.a)]));
    const next = state.rows.slice().sort((p, q) =>
      compare(value.get(p), value.get(q), state.sort.up) || p.a - q.a);
    if (next.some((row, i) => row !== state.order[i])) {
      state.order = next;
      body.append(...next.map(row => row.row));
    }
    state.drawn = 0;
    watch.drawSoon();
  }

  /** What several cells of a frame need. */
  function prepare(run, frame) {
    run.leftNow = watch.roll(run, frame).left;
    if (frame.h && typeof frame.h !== "number") {
      const sorted = [...frame.h].filter(known).sort((x, y) => x - y);
      run.usualStep = sorted[sorted.length >> 1];
    }
  }

  function drawState(run, frame, a, cell) {
    const letter = watch.shownState(run, frame, a, run.leftNow);
    const hidden = !watch.isSeen(frame, a);
    const key = letter + hidden;
    if (cell.shownText === key) return;
    cell.shownText = key;
    const text = letter === "n" ? "unreachable"
      : watch.stateName(letter) + (hidden ? ", unreachable" : "");
    const part = watch.html("span", { class: "state" });
    part.append(watch.icon(letter === "?" ? "n" : letter), text);
    cell.replaceChildren(part);
    cell.title = hidden ? "The watcher cannot reach this agent." : "";
  }

  function drawRow(run, frame, { a, row, cells }) {
    watch.setAttribute(row, "class", a === watch.view.selected ? "selected" : "");
    state.columns.forEach((column, c) => {
      if (c === 0) return;
      const cell = cells[c - 1];
      if (column.key === "state") drawState(run, frame, a, cell);
      else setText(cell, watch.cellText(run, frame, column, a));
      const mark = column.mark ? column.mark(run, frame, a) : "";
      watch.setAttribute(cell, "class", (column.left ? "left " : "") + mark);
    });
  }

  /** Draws the rows in view, once a second while the page moves by itself. */
  function draw(run, frame, i, all) {
    if (state.sort.key !== "agent") sortRows(run, frame, false);
    const now = performance.now();
    if (watch.isMoving() && !all && now - state.drawn < 900) return;
    state.drawn = now;
    prepare(run, frame);
    const top = run.n > 50 && !all ? Math.max(0, Math.floor(byId("agents-scroll").scrollTop / ROW) -
      2) : 0;
    const end = run.n > 50 && !all ? Math.min(run.n, top + 32) : run.n;
    for (let j = top; j < end; j += 1) drawRow(run, frame, state.order[j]);
    const sorted = state.columns.find(c => c.key === state.sort.key).name(run).toLowerCase();
    setText(byId("agents-about"), state.sort.key === "agent"
      ? "select one for its neighbours, times and history"
      : "sorted by " + sorted + "; the order is kept while you point at it");
  }

  // A table that has only the numbers of the agents says nothing.
  const has = run => COLUMNS.filter(column => column.has(run)).length > 1;
  watch.sections.push({ id: "agents", has, build, draw });
})(watch);
