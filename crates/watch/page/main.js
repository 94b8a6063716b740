// Start of the page: colours, when to draw what, and the connection of the parts.
(function (watch) {
  "use strict";

  const { byId } = watch;
  const SLOWEST = 500; // Milliseconds between drawings that the data asks for.
  const COLOURS = ["paper", "raised", "ink", "muted", "line", "soft", "accent", "alert", "warn",
    "none", "band", "compute", "wait", "mix", "disk", "e0", "e1", "e2", "e3", "e4", "e5", "e6"];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  let colours = {};
  let theme = { chosen: null, name: "light" };
  const visible = new Set();
  let asked = false;
  let timer = 0;
  let lastDrawn = -1e9;
  let built = { run: null, reported: "" };

  watch.colours = () => colours;
  watch.themeName = () => theme.name;

  function setTheme(name) {
    theme.name = name;
    document.documentElement.dataset.theme = name;
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const key of COLOURS) colours[key] = style.getPropertyValue("--" + key).trim();
    const other = name === "dark" ? "light" : "dark";
    byId("theme").setAttribute("aria-label", "Change to " + other + " colours");
    byId("theme").title = "Change to " + other + " colours";
    watch.drawSoon();
  }

  function startTheme() {
    const automatic = () => setTheme(theme.chosen || (dark.matches ? "dark" : "light"));
    byId("theme").append(watch.icon("theme"));
    byId("theme").addEventListener("click", () => {
      theme.chosen = theme.name === "dark" ? "light" : "dark";
      automatic();
    });
    dark.addEventListener("change", automatic);
    automatic();
    window.addEventListener("beforeprint", () => {
      setTheme("light");
      draw(true);
    });
    window.addEventListener("afterprint", automatic);
  }

  /** Draws before the next picture of the browser; for what the reader does. */
  watch.drawSoon = function () {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw(false);
    });
  };

  /** Draws at most twice a second; for what comes by itself. */
  watch.drawThrottled = function () {
    if (timer) return;
    const wait = Math.max(0, lastDrawn + SLOWEST - performance.now());
    timer = setTimeout(() => {
      timer = 0;
      watch.drawSoon();
    }, wait);
  };

  watch.dataArrived = watch.drawThrottled;

  watch.linkChecked = function () {
    if (watch.shownFrame()) watch.drawVerdict(watch.run, watch.view.i);
    drawNotes();
  };

  /** A new run: selections are kept if they still fit. */
  watch.startRun = function (run) {
    const { view } = watch;
    if (view.selected !== null && view.selected >= run.n) watch.closeDay(false);
  };

  /** Shows the sections whose data is reported, and builds those anew for which it changed. */
  function prepare(run) {
    const reported = watch.reported(run);
    if (built.run !== run) watch.buildHead(run);
    if (built.run !== run || built.reported !== reported) watch.buildFigures(run);
    for (const section of watch.sections) {
      const has = Boolean(section.has(run));
      const key = has ? (section.key ? section.key(run) : reported) : "";
      if (built.run === run && section.builtKey === key) continue;
      section.builtKey = key;
      section.shown = has;
      section.drawn = false;
      byId(section.id).hidden = !has;
      if (has) section.build(run);
    }
    built = { run, reported };
    const panels = ["network", "curves", "waterfall"].filter(id => !byId(id).hidden);
    byId("panels").dataset.shown = panels.join(" ");
    byId("panels").hidden = !panels.length;
  }

  function drawNotes() {
    const { count, last } = watch.problems;
    byId("notes").hidden = !count;
    if (count) {
      watch.setText(byId("notes"), "Malformed data was left out " + watch.count(count, "time") +
        "; last: " + last + ".");
    }
  }

  /** A section that fails does not take the others with it. */
  function guard(name, act) {
    try {
      act();
    } catch (error) {
      watch.problem("section " + name + " could not be drawn (" + error.message + ")");
      console.error(error);
    }
  }

  function draw(all) {
    const { run, view } = watch;
    drawNotes();
    const frame = watch.shownFrame();
    if (!frame) return;
    lastDrawn = performance.now();
    byId("content").hidden = false;
    prepare(run);
    const verdict = watch.drawVerdict(run, view.i);
    watch.drawFigures(run, frame, view.i, verdict);
    for (const section of watch.sections) {
      // Each section is drawn once even out of view, so that nothing moves when it appears.
      const inView = all || visible.has(section.id) || !section.drawn;
      if (section.shown && inView) {
        section.drawn = true;
        guard(section.id, () => section.draw(run, frame, view.i, all));
      }
    }
    guard("day", () => watch.drawDay(run, frame, view.i));
    watch.cost = performance.now() - lastDrawn;
  }

  watch.resized = () => watch.drawSoon();

  function observe() {
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) {
        const section = watch.sections.find(one => one.id === entry.target.id);
        if (entry.isIntersecting) visible.add(section.id);
        else visible.delete(section.id);
      }
      watch.drawSoon();
    }, { rootMargin: "80px" });
    for (const section of watch.sections) observer.observe(byId(section.id));
    new ResizeObserver(() => watch.drawSoon()).observe(byId("page"));
  }

  /** `#t=…&x=k|t|b&agent=…` chooses what is shown first. */
  function readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (["k", "t", "b"].includes(wanted.get("x"))) watch.view.x = wanted.get("x");
    if (!watch.run || !watch.run.frames.length) return;
    if (wanted.has("t")) watch.seekTime(Number(wanted.get("t")) || 0);
    const agent = Number(wanted.get("agent"));
    if (wanted.has("agent") && agent >= 0 && agent < watch.run.n && Number.isInteger(agent)) {
      draw(false);
      watch.openDay(agent, null);
    }
  }

  startTheme();
  watch.startTime();
  observe();
  watch.openStream();
  readAddress();
})(watch);
