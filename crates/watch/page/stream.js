// Where the data comes from: embedded in the page, or server-sent events of the watcher.
(function (watch) {
  "use strict";

  const RETRY = 2000; // Milliseconds until a refused connection is tried again.

  // `lostSince` and `lastData` are times of performance.now(); `quiet` is in seconds.
  watch.link = { live: false, lostSince: null, lastData: 0, quiet: 0 };

  function parse(text, part) {
    try {
      return JSON.parse(text);
    } catch (error) {
      watch.problem(part + " is not JSON");
      return undefined;
    }
  }

  /** Starts anew with a hello; keeps what the reader has selected if it still fits. */
  function takeHello(raw) {
    const hello = watch.decodeHello(raw);
    if (!hello) return;
    watch.run = watch.newRun(hello);
    watch.run.unit = hello.unit || "2⁻⁴⁰";
    watch.startRun(watch.run);
  }

  function takeFrame(raw) {
    if (!watch.run) return;
    const { run } = watch;
    watch.addFrame(run, raw);
    if (watch.link.live && run.sequence % 40 === 0) watch.thin(run);
  }

  const takeEvent = raw => watch.run && watch.addEvent(watch.run, raw);

  function readEmbedded(node) {
    const data = parse(node.textContent, "the embedded data");
    if (!data) return;
    takeHello(data.hello);
    for (const frame of Array.isArray(data.frames) ? data.frames : []) takeFrame(frame);
    for (const event of Array.isArray(data.events) ? data.events : []) takeEvent(event);
    watch.dataArrived();
  }

  function connect() {
    const source = new EventSource("stream" + location.search);
    const { link } = watch;
    const on = (name, take) => source.addEventListener(name, message => {
      link.lostSince = null;
      link.lastData = performance.now();
      const raw = parse(message.data, name);
      if (raw !== undefined) take(raw);
      watch.dataArrived();
    });
    on("hello", takeHello);
    on("frame", takeFrame);
    on("event", takeEvent);
    source.addEventListener("open", () => {
      link.lostSince = null;
      watch.dataArrived();
    });
    source.addEventListener("error", () => {
      if (link.lostSince === null) link.lostSince = performance.now();
      watch.dataArrived();
      // The browser retries a broken connection by itself, but not a refused one.
      if (source.readyState !== EventSource.CLOSED) return;
      source.close();
      setTimeout(connect, RETRY);
    });
  }

  /** Once a second: for how long nothing has come, and whether the connection is there. */
  function checkLink() {
    const { link, run } = watch;
    const now = performance.now();
    const silence = (now - link.lastData) / 1000;
    const every = (run && run.hello.every) || 0.5;
    const over = run && run.kinds.has("end");
    link.quiet = silence > Math.max(5, 4 * every) && !over ? silence : 0;
    const banner = watch.byId("link");
    const lost = link.lostSince !== null;
    // The seconds change all the time, so a screen reader hears only loss and return.
    if (banner.hidden === lost) {
      watch.byId("say").textContent = lost ? "No connection to the watcher."
        : "Connected to the watcher again.";
    }
    banner.hidden = !lost;
    if (link.lostSince !== null) {
      const since = ((now - link.lostSince) / 1000).toFixed(0);
      watch.setText(banner, "No connection to the watcher since " + since + watch.NBSP +
        "s; trying again.");
    }
    watch.linkChecked();
  }

  watch.openStream = function () {
    const node = watch.byId("data");
    if (node) {
      readEmbedded(node);
      return;
    }
    watch.link.live = true;
    watch.link.lastData = performance.now();
    connect();
    setInterval(checkLink, 1000);
  };
})(watch);
