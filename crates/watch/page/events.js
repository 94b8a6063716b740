// Events of the run as sentences, and what follows from them about agents.
(function (watch) {
  "use strict";

  const who = (run, a) => (a === undefined ? "an agent" : watch.agentText(run, a));
  const mass = e => (e.mass ? ", mass " + watch.sci(e.mass) : "");
  const because = e => (e.reason ? " (" + e.reason + ")" : "");
  const noted = e => (e.text ? ": " + e.text : "");

  /** The two sides of a partition as text: "agents 0–99 and 100–199" or a list. */
  watch.sidesText = function (run, e) {
    if (Array.isArray(e.side)) {
      return watch.agentsText(run, e.side) + " and the others";
    }
    const range = (a, b) => (a === b ? String(a) : a + "–" + b);
    if (!(e.side > 0 && e.side < run.n)) return "two groups of agents";
    return "agents" + watch.NBSP + range(0, e.side - 1) + " and" + watch.NBSP +
      range(e.side, run.n - 1);
  };

  const SENTENCES = {
    kill: (r, e) => who(r, e.agent) + " is killed" + because(e),
    start: (r, e) => who(r, e.agent) + " starts" +
      (e.life === undefined ? "" : " with incarnation " + watch.incarnation(e.life)),
    join: (r, e) => who(r, e.agent) + " joins" +
      (e.life === undefined ? "" : " with incarnation " + watch.incarnation(e.life)),
    leave: (r, e) => who(r, e.agent) + " leaves the run" + because(e),
    suspect: (r, e) => (e.other === undefined ? who(r, e.agent) + " is suspected to be dead"
      : who(r, e.agent) + " suspects " + watch.agentText(r, e.other)) + because(e),
    refute: (r, e) => who(r, e.agent) + " refutes its death" +
      (e.life === undefined ? "" : ", now incarnation " + watch.incarnation(e.life)),
    epoch: (r, e) => "epoch " + (e.epoch === undefined ? "" : e.epoch + " ") + "begins" +
      (e.agent === undefined ? "" : " at " + watch.agentText(r, e.agent)) + because(e),
    reversal: (r, e) => who(r, e.agent) + " reverses its edges with " + who(r, e.other) + mass(e),
    close: (r, e) => who(r, e.agent) + " closes its edge to " + who(r, e.other) + mass(e),
    partition: (r, e) => "partition between " + watch.sidesText(r, e),
    refusal: (r, e) => who(r, e.agent) + " refuses a message" +
      (e.other === undefined ? "" : " of " + watch.agentText(r, e.other)) + because(e),
    bad_step: (r, e) => who(r, e.agent) + " rejects a step and reduces its step size" + because(e),
    fault: (r, e) => "injected fault" + noted(e) +
      (e.agent === undefined ? "" : ", " + watch.agentText(r, e.agent)) +
      (e.other === undefined ? "" : " and " + watch.agentText(r, e.other)),
    checkpoint: (r, e) => who(r, e.agent) + " writes a checkpoint",
    end: (r, e) => "end of the run" + because(e) + noted(e),
  };

  watch.isKnownKind = kind => Object.prototype.hasOwnProperty.call(SENTENCES, kind);

  /** One sentence about an event; an unknown kind is shown with all its fields. */
  watch.eventText = function (run, event) {
    if (watch.isKnownKind(event.kind)) return SENTENCES[event.kind](run, event);
    const fields = event.fields.map(([key, value]) => key + " " + value);
    return event.kind + (fields.length ? ": " + fields.join(", ") : "");
  };

  /** As a line of a list: a known kind begins with a capital, an unknown one stays as it is. */
  watch.eventLine = (run, event) => (watch.isKnownKind(event.kind)
    ? watch.capital(watch.eventText(run, event)) : watch.eventText(run, event)) +
    watch.eventSpan(run, event);

  /** How long an event lasts, as text for lists; empty for a moment. */
  watch.eventSpan = (run, event) => (event.until > event.t
    ? ", for " + watch.span(run, event.until - event.t) : "");

  /** Does an event concern this agent? Epochs concern everybody. */
  watch.concerns = function (event, a) {
    if (event.agent === a || event.other === a) return true;
    return event.kind === "epoch" && event.agent === undefined;
  };

  const lasts = (event, t) => event.t <= t && (event.until === undefined || t < event.until);

  watch.partitionAt = (run, t) =>
    run.events.findLast(e => e.kind === "partition" && lasts(e, t));

  watch.faultsAt = (run, t) =>
    run.events.filter(e => e.kind === "fault" && e.until > e.t && lasts(e, t));

  /** Newest event of certain kinds about an agent, not after `t`. */
  watch.lastEvent = (run, t, a, kinds) =>
    run.events.findLast(e => e.t <= t && e.agent === a && kinds.includes(e.kind));

  const STAYS = ["kill", "leave", "join", "start", "refute"];

  /** The agents by state at a frame: down or silent, gone on purpose, joining, not seen. */
  watch.roll = function (run, frame) {
    const roll = { off: [], left: [], joining: [], unseen: [], up: 0 };
    for (let a = 0; a < run.n; a += 1) {
      const state = frame.s ? frame.s[a] : undefined;
      if (!watch.isSeen(frame, a)) roll.unseen.push(a);
      if (state === "u" || state === "j") roll.up += 1;
      if (state === "j") roll.joining.push(a);
      if (state !== "d" && state !== "s") continue;
      const last = run.kinds.has("leave") && watch.lastEvent(run, frame.t, a, STAYS);
      if (last && last.kind === "leave") roll.left.push(a);
      else roll.off.push(a);
    }
    return roll;
  };

  /** State of an agent as shown: its letter, "l" for left on purpose, "n" for not seen. */
  watch.shownState = function (run, frame, a, left) {
    const state = frame.s ? frame.s[a] : "?";
    if (left.includes(a)) return "l";
    if (!watch.isSeen(frame, a) && state !== "d" && state !== "s") return "n";
    return state;
  };

  /** Since when an agent has been down or silent: by its event, else by the frames. */
  watch.downSince = function (run, i, a) {
    const { t } = run.frames[i];
    let j = i;
    while (j > 0 && run.frames[j - 1].s && "ds".includes(run.frames[j - 1].s[a])) j -= 1;
    const begin = j > 0 ? run.frames[j - 1].t : run.frames[0].t;
    const event = watch.lastEvent(run, t, a, ["kill", "suspect", "leave"]);
    return event && event.t >= begin - 1e-9 ? event.t : run.frames[j].t;
  };
})(watch);
