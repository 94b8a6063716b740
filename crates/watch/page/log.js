// List of the events as text, newest first; selecting one goes to its moment.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const MOST = 200;
  const LINE = 25; // Pixels of an event that fits on one line.
  const TALLEST = 330;

  let drawn = { told: -1, run: null, end: -1 };

  function makeItem(run, event) {
    const item = watch.html("li", {});
    watch.html("span", { class: "when", text: watch.moment(run, event.t) }, item);
    const button = watch.html("button", { type: "button", text: watch.eventLine(run, event) },
      item);
    button.addEventListener("click", () => {
      const i = watch.frameAt(run, event.t);
      watch.play(false);
      watch.seek(run.frames[i].t < event.t ? i + 1 : i);
    });
    return item;
  }

  function draw(run, frame) {
    let end = run.events.length;
    while (end > 0 && run.events[end - 1].t > frame.t) end -= 1;
    // At the newest frame, events that came after it are shown, too.
    if (watch.view.i === run.frames.length - 1) end = run.events.length;
    if (drawn.run === run && drawn.told === run.told && drawn.end === end) return;
    const list = byId("log-list");
    if (drawn.run === run && list.contains(document.activeElement) && watch.isMoving()) return;
    drawn = { run, told: run.told, end };
    const shown = run.events.slice(Math.max(0, end - MOST), end).reverse();
    list.replaceChildren(...shown.map(event => makeItem(run, event)));
    // The list keeps its height at every moment, or the page would jump while one scrolls.
    list.style.minHeight = Math.min(TALLEST, LINE * run.events.length) + "px";
    const later = run.events.length - end;
    setText(byId("log-about"), watch.whole(end) + " so far" + (later ? ", " + watch.whole(later) +
      " later" : "") + (end > MOST ? "; the last " + MOST + " are listed" : ""));
  }

  watch.sections.push({ id: "log", has: run => run.events.length > 0, build() {}, draw });
})(watch);
