// The moment that is shown: following, playing, stepping, and the keyboard.
(function (watch) {
  "use strict";

  const { byId } = watch;

  // `i` is the index of the shown frame and `t` its time; `follow` keeps it at the newest.
  const view = { i: 0, t: 0, follow: true, playing: false, speed: 1, x: "k", selected: null };
  watch.view = view;

  watch.seek = function (i) {
    const { run } = watch;
    if (!run || !run.frames.length) return;
    view.i = watch.clamp(i, 0, run.frames.length - 1);
    view.t = run.frames[view.i].t;
    view.follow = view.i === run.frames.length - 1;
    if (view.playing) view.stamp = performance.now();
    watch.drawSoon();
  };

  watch.seekTime = t => watch.run && watch.seek(watch.frameAt(watch.run, t));

  /** Keeps the moment when frames were added or removed. */
  watch.keepMoment = function (run) {
    const following = view.follow && !view.playing;
    view.i = following ? run.frames.length - 1 : watch.frameAt(run, view.t);
    if (following) view.t = run.frames[view.i].t;
  };

  /** The frame that is shown; undefined between a hello and its first frame. */
  watch.shownFrame = function () {
    const { run } = watch;
    if (!run || !run.frames.length) return undefined;
    watch.keepMoment(run);
    return run.frames[view.i];
  };

  /** Frames of a recording that pass in a second at speed 1, in units of its clock. */
  function unitsPerSecond(run) {
    if (run.clock === "s") return 1;
    const last = run.frames[run.frames.length - 1];
    return Math.max(1e-9, (2 * (last.t - run.frames[0].t)) / Math.max(1, run.frames.length - 1));
  }

  function advance() {
    const { run } = watch;
    if (!view.playing || !run) return;
    const now = performance.now();
    view.t += Math.min(1, (now - view.stamp) / 1000) * view.speed * unitsPerSecond(run);
    view.stamp = now;
    view.i = watch.frameAt(run, view.t);
    if (view.i >= run.frames.length - 1) {
      view.follow = true;
      watch.play(false);
    }
    watch.drawThrottled();
  }

  watch.play = function (on) {
    const { run } = watch;
    if (!run || !run.frames.length) return;
    const end = view.i >= run.frames.length - 1;
    if (on && end && !watch.link.live) watch.seek(0);
    clearInterval(view.timer);
    view.playing = on && !(end && watch.link.live);
    if (view.playing) {
      view.follow = false;
      view.stamp = performance.now();
      view.timer = setInterval(advance, 250);
    }
    watch.drawSoon();
  };

  /** Space: pauses what plays or follows; otherwise plays. */
  function toggle() {
    if (view.playing) watch.play(false);
    else if (watch.link.live && view.follow) {
      view.follow = false;
      watch.drawSoon();
    } else watch.play(true);
  }

  watch.toNewest = function () {
    watch.play(false);
    if (watch.run) watch.seek(watch.run.frames.length - 1);
  };

  /** Goes to the frame just after the next or previous event, reversals left out. */
  watch.jump = function (direction) {
    const { run } = watch;
    if (!watch.shownFrame()) return;
    const frames = new Set();
    for (const event of run.events) {
      if (event.kind === "reversal" || event.kind === "checkpoint") continue;
      const i = watch.frameAt(run, event.t);
      frames.add(run.frames[i].t < event.t && i < run.frames.length - 1 ? i + 1 : i);
    }
    const sorted = [...frames].sort((a, b) => a - b);
    const found = direction > 0 ? sorted.find(i => i > view.i) : sorted.findLast(i => i < view.i);
    if (found !== undefined) watch.seek(found);
  };

  function action(event) {
    const step = event.shiftKey ? watch.jump : d => watch.seek(view.i + d);
    return {
      " ": toggle,
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      Home: () => watch.seek(0),
      End: () => watch.toNewest(),
    }[event.key];
  }

  function onKey(event) {
    if (event.key === "Escape" && watch.closeDay(true)) return;
    if (event.metaKey || event.ctrlKey || event.altKey || !watch.run) return;
    const { target } = event;
    const own = "input, select, button, summary, a, [role=button], [role=region], canvas";
    if (target.id !== "scrubber" && target.matches(own)) return;
    const act = action(event);
    if (!act || event.defaultPrevented) return;
    event.preventDefault();
    act();
  }

  watch.startTime = function () {
    for (const [id, icon] of [["previous", "previous"], ["next", "next"], ["play", "play"]]) {
      byId(id).replaceChildren(watch.icon(icon));
    }
    byId("play").addEventListener("click", toggle);
    byId("previous").addEventListener("click", () => watch.jump(-1));
    byId("next").addEventListener("click", () => watch.jump(1));
    byId("newest").addEventListener("click", watch.toNewest);
    byId("speed").addEventListener("change", event => {
      view.speed = Number(event.target.value);
    });
    byId("scrubber").addEventListener("input", event => {
      watch.play(false);
      watch.seekTime(Number(event.target.value));
    });
    window.addEventListener("keydown", onKey);
  };

  /** Plays or follows; nothing plays by itself, so reduced motion needs no other rule. */
  watch.isMoving = () => view.playing || (watch.link.live && view.follow);
})(watch);
