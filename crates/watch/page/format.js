// Numbers, times and lists of agents as text.
(function (watch) {
  "use strict";

  const NBSP = "\u00a0";
  const STATES = { u: "running", j: "joining", s: "silent", d: "down", l: "left" };

  watch.NBSP = NBSP;
  watch.stateName = letter => STATES[letter] || "unknown";
  watch.whole = x => Math.round(x).toLocaleString("en-GB");

  /** An incarnation; of those that are times, the last digits tell one life from the next. */
  watch.incarnation = n => (n < 1e6 ? watch.whole(n) : "…" + String(n).slice(-6));
  watch.count = (n, noun) => watch.whole(n) + NBSP + noun + (n === 1 ? "" : "s");

  /** Two significant digits: 1.6e-3, 0 for zero, 12 and 120 without exponent. */
  watch.sci = function (x) {
    if (x === 0) return "0";
    if (!Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    if (size >= 0.9995 && size < 9.95) return x.toFixed(1);
    if (size >= 9.95 && size < 9999.5) return x.toFixed(0);
    const [mantissa, exponent] = x.toExponential(1).split("e");
    return mantissa + "e" + Number(exponent);
  };

  /** As `sci`, but round numbers lose their zero: 1e-6. */
  watch.short = x => watch.sci(x).replace(".0", "");

  /** A number of any size with four significant digits, for metrics of the whole run. */
  watch.plain = function (x) {
    const size = Math.abs(x);
    if (x === 0 || (size >= 0.001 && size < 1e6)) {
      return Number(x.toPrecision(4)).toLocaleString("en-GB", { maximumFractionDigits: 6 });
    }
    const [mantissa, exponent] = x.toExponential(2).split("e");
    return mantissa + "e" + Number(exponent);
  };

  /** Text of a value that is stored as 100·log10; very small values are exact zeros. */
  watch.fromLog = c => (c <= -3000 ? "0" : Number.isFinite(c) ? watch.sci(10 ** (c / 100)) : "–");

  /** Bytes as a pair of figure and unit. */
  watch.bytes = function (b) {
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let i = 0;
    while (b >= 999.5 && i < units.length - 1) {
      b /= 1000;
      i += 1;
    }
    const digits = i === 0 || b >= 99.5 ? 0 : b >= 9.95 ? 1 : 2;
    return [b.toFixed(digits), units[i]];
  };

  /** A duration in the clock of the run: "0.9 s", "12 min 05 s", "40 ticks", "3 rounds". */
  watch.span = function (run, dt) {
    if (run.clock !== "s") return watch.count(Math.round(dt), run.clock.slice(0, -1));
    if (dt < 99.95) return dt.toFixed(1) + NBSP + "s";
    if (dt < 600) return dt.toFixed(0) + NBSP + "s";
    const two = x => String(Math.floor(x)).padStart(2, "0");
    if (dt < 7200) return Math.floor(dt / 60) + NBSP + "min" + NBSP + two(dt % 60) + NBSP + "s";
    const hours = Math.floor(dt / 3600);
    if (hours < 48) return hours + NBSP + "h" + NBSP + two((dt % 3600) / 60) + NBSP + "min";
    return Math.floor(hours / 24) + NBSP + "d" + NBSP + (hours % 24) + NBSP + "h";
  };

  /** A moment of the run: "56.4 s", "tick 1,240" or "round 1,240". */
  watch.moment = function (run, t) {
    if (run.clock === "s") return watch.span(run, t);
    return run.clock.slice(0, -1) + NBSP + watch.whole(t);
  };

  /** A moment together with its round, without saying the round twice. */
  watch.momentAndRound = function (run, frame) {
    const round = "round" + NBSP + watch.whole(frame.k);
    return run.clock === "rounds" ? round : watch.moment(run, frame.t) + " · " + round;
  };

  /** Rounds as an age: "1 round", "29 rounds"; ages above 40 are known within 5 %. */
  watch.rounds = x => watch.count(Math.round(x), "round");

  /** Age of a checkpoint: in 0.1 s if the clock is in seconds, else in units of the clock. */
  watch.checkpointAge = (run, c) => watch.span(run, run.clock === "s" ? c / 10 : c);

  /** One agent as text, with its name if the names say more than the numbers. */
  watch.agentText = function (run, a) {
    const name = (run.named && run.hello.names[a]) || "";
    const short = name.length > 24 ? name.slice(0, 23) + "…" : name;
    return "agent" + NBSP + a + (short ? " (" + short + ")" : "");
  };

  /** A list of agents: all of them up to three, else their number. */
  watch.agentsText = function (run, list) {
    if (list.length === 1) return watch.agentText(run, list[0]);
    if (list.length > 3) return watch.count(list.length, "agent");
    const head = list.slice(0, -1).join(", ");
    return "agents" + NBSP + head + " and" + NBSP + list[list.length - 1];
  };

  watch.capital = text => text.charAt(0).toUpperCase() + text.slice(1);
})(watch);
