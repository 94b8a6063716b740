// The verdict: one sentence about the run by fixed rules, of which the first that holds counts.
(function (watch) {
  "use strict";

  const STILL = 0.04; // A change of fewer decades than this over the window is none.

  /** What the metric is called in a sentence, with its worst value. */
  function metricClause(run, frame) {
    const name = run.hello.metric || (run.has.e || run.has.x0 ? "metric" : "");
    if (frame.first && name) {
      const worst = frame.first.who >= 0 ? "worst " : "";
      return worst + name + " " + watch.fromLog(frame.first.high);
    }
    if (frame.disagreement) return "largest disagreement " + watch.fromLog(frame.disagreement.high);
    return "";
  }

  const measured = frame => frame.first || frame.disagreement;

  /** Change of the metric over the last ten seconds, or twenty frames without seconds, or a
   *  twentieth of the run if that is longer. */
  function trend(run, i) {
    const { t } = run.frames[i];
    const wide = Math.max(10, 0.05 * (t - run.frames[0].t));
    const back = run.clock === "s" ? watch.frameAt(run, t - wide)
      : Math.max(0, i - Math.max(20, Math.round(0.05 * i)));
    const [old, now] = [run.frames[back], run.frames[i]];
    const span = t - old.t;
    const early = run.clock === "s" ? span < 2 : i < 4;
    if (early || !measured(old) || !measured(now)) return { early, span, fall: NaN };
    return { early, span, fall: (measured(old).high - measured(now).high) / 100 };
  }

  /** A span without digits that mean nothing: whole seconds, two digits of rounds or ticks. */
  function roundSpan(run, dt) {
    if (run.clock !== "s") return watch.span(run, dt < 10 ? dt : Number(dt.toPrecision(2)));
    return dt < 100 ? Math.max(1, Math.round(dt)) + watch.NBSP + "s" : watch.span(run, dt);
  }

  function paceText(run, frame, { early, span, fall }) {
    if (!measured(frame)) return "";
    if (early) return "Too early to give a rate of convergence.";
    if (Number.isNaN(fall)) return "";
    const over = "Over the last " + roundSpan(run, span) + " it ";
    if (fall < -STILL) return over + "has risen.";
    if (fall < STILL) return over + "has hardly changed.";
    const tenfold = span / fall;
    const said = roundSpan(run, tenfold);
    const left = frame.first && run.hello.target
      ? frame.first.high / 100 - Math.log10(run.hello.target) : 0;
    if (left <= 0) return over + "fell tenfold every " + said + ".";
    return over + "fell tenfold every " + said + "; at this rate " +
      watch.short(run.hello.target) + " is " + roundSpan(run, left * tenfold) + " away.";
  }

  function massClause(run, frame) {
    const parked = frame.p ? frame.p.length : 0;
    if (parked) return "mass parked on " + watch.count(parked, "edge");
    if (run.has.mx || run.has.m) return "no mass missing";
    return run.has.p ? "no mass parked" : "";
  }

  function memberClause(run, frame, roll) {
    const gone = roll.left.length ? ", " + watch.agentsText(run, roll.left) + " left" : "";
    if (!frame.s) return "";
    return roll.up + watch.NBSP + "of" + watch.NBSP + (run.n - roll.left.length) + watch.NBSP +
      (run.n === 1 ? "member" : "members") + gone;
  }

  const unseenClause = (run, roll) =>
    (roll.unseen.length ? watch.agentsText(run, roll.unseen) + " unreachable" : "");

  const join = (...clauses) => clauses.filter(Boolean).join(", ");
  const sentences = (...parts) => parts.filter(Boolean).join(" ");

  function unbalanced({ run, frame }) {
    const ever = Math.max(Math.abs(frame.mx || 0), Math.abs(frame.m || 0));
    if (!ever) return null;
    return { kind: "bad", word: "Mass is not conserved",
      rest: "the residual is " + watch.whole(ever) + " × " + run.unit +
        "; results from here on are wrong",
      why: "Stop the run and keep the state folders: this is a bug or a forged message." };
  }

  function noData({ run, frame, base, link, i }) {
    if (!link.live || i !== run.frames.length - 1 || !(link.quiet > 0)) return null;
    return { kind: "quiet", word: "No data for " + link.quiet.toFixed(0) + watch.NBSP + "s",
      rest: join("the last known state is of round " + watch.whole(frame.k), ...base),
      why: "The nodes or the watcher have stopped sending; the run may go on unseen." };
  }

  function ended({ run, frame, base, i }) {
    const last = i === run.frames.length - 1;
    const { target, rounds } = run.hello;
    const end = run.events.findLast(e => e.kind === "end");
    const over = end ? last || end.t <= frame.t : rounds && frame.k >= rounds;
    if (!over) return null;
    const reached = frame.first && target && 10 ** (frame.first.high / 100) <= target;
    const goal = !frame.first || !target ? ""
      : (reached ? "below" : "above") + " the target of " + watch.short(target);
    const reason = end && (end.reason || end.text);
    return { kind: goal && !reached ? "heal" : "good", word: "Finished",
      rest: join(base[0], goal, base.slice(1).join(", ")) || "the run has ended",
      why: sentences("The run ended after " + watch.count(frame.k, "round") +
        (run.clock === "rounds" ? "" : " and " + watch.span(run, frame.t)) + ".",
      reason ? watch.capital(reason) + "." : "") };
  }

  function split({ run, frame, mass }) {
    const cut = watch.partitionAt(run, frame.t);
    if (!cut) return null;
    return { kind: "heal", word: "Partitioned",
      rest: join(watch.sidesText(run, cut) + " have not heard each other for " +
        watch.span(run, frame.t - cut.t), mass),
      why: "Each side continues by itself. Parked mass is delivered or reversed when they " +
        "meet again." };
  }

  function down({ run, frame, roll, members, mass, metric, i }) {
    if (!roll.off.length) return null;
    const { off } = roll;
    const silent = off.every(a => frame.s[a] === "s");
    const since = Math.min(...off.map(a => watch.downSince(run, i, a)));
    const parked = frame.p && frame.p.length;
    return { kind: "heal", word: "Recovering",
      rest: join(watch.agentsText(run, off) + (off.length === 1 ? " has" : " have") + " been " +
        (silent ? "silent" : "down") + " for " + watch.span(run, frame.t - since), members, mass),
      why: sentences(metric && watch.capital(metric) + ".", parked
        ? "Neighbours reverse the mass that was not acknowledged."
        : "The other agents continue.") };
  }

  function unseen({ run, roll, members, mass, metric }) {
    if (!roll.unseen.length) return null;
    const one = roll.unseen.length === 1;
    return { kind: "quiet", word: "Not all seen",
      rest: join("the watcher cannot reach " + watch.agentsText(run, roll.unseen), metric,
        members, mass),
      why: "Nothing is known about " + (one ? "it" : "them") + " except what the other agents " +
        "report." };
  }

  function joining({ run, frame, roll, members, mass, pace, metric }) {
    if (!roll.joining.length) return null;
    const one = roll.joining.length === 1;
    const again = frame.li !== undefined && roll.joining.every(a => watch.valueOf(frame.li, a) > 1);
    return { kind: "heal", word: again ? "Recovering" : "Joining",
      rest: join(watch.agentsText(run, roll.joining) + (one ? " is" : " are") + (again
        ? " back with a new incarnation" : " joining"), members, mass),
      why: sentences(metric && watch.capital(metric) + ".", pace) };
  }

  function progress({ run, frame, base, trend: { early, fall }, pace, metric }) {
    const { target } = run.hello;
    const rest = join(...base);
    if (!metric) {
      return { kind: "fall", word: "Running", why: "No metric is reported.",
        rest: join("round " + watch.whole(frame.k), rest) };
    }
    if (early) return { kind: "fall", word: "Starting", rest, why: pace };
    if (frame.first && target && 10 ** (frame.first.high / 100) <= target) {
      return { kind: "good", word: "Converged", why: pace,
        rest: join(base[0] + " is below the target of " + watch.short(target), ...base.slice(1)) };
    }
    if (fall < -STILL) return { kind: "heal", word: "Not converging", rest, why: pace };
    if (fall < STILL) return { kind: "fall", word: "Running", rest, why: pace };
    return { kind: "fall", word: "Converging", rest, why: pace };
  }

  const RULES = [unbalanced, noData, ended, split, down, unseen, joining, progress];

  /** The verdict at frame `i`: kind of icon, first word, rest of the sentence, second line. */
  watch.judge = function (run, i, link) {
    const frame = run.frames[i];
    const roll = watch.roll(run, frame);
    const facts = { run, frame, i, link, roll, trend: trend(run, i),
      metric: metricClause(run, frame), members: memberClause(run, frame, roll),
      mass: massClause(run, frame) };
    facts.pace = paceText(run, frame, facts.trend);
    facts.base = [facts.metric, facts.members, facts.mass].filter(Boolean);
    const rule = RULES.find(one => one(facts));
    const verdict = rule(facts);
    if (rule !== unseen) verdict.rest = join(verdict.rest, unseenClause(run, roll));
    const faults = watch.faultsAt(run, frame.t);
    if (faults.length) {
      const shown = faults.slice(0, 3).map(e => e.text || "fault").join(", ");
      const more = faults.length > 3 ? " and " + (faults.length - 3) + " more" : "";
      verdict.why = sentences("Injected now: " + shown + more + ".", verdict.why);
    }
    verdict.roll = roll;
    return verdict;
  };
})(watch);
