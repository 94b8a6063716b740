// Mass balance: the residual now and ever, and the mass that is parked on edges.
(function (watch) {
  "use strict";

  const { byId, setText } = watch;
  const MOST = 24;

  const facts = {};
  let tallest = 0; // Height of the longest list so far, kept so that the page does not jump.

  function fact(name, title) {
    const box = watch.html("div", {}, byId("books-facts"));
    watch.html("dt", { text: title }, box);
    facts[name] = watch.html("dd", {}, box);
  }

  function build(run) {
    byId("books-facts").replaceChildren();
    byId("books-parked").replaceChildren();
    byId("books-parked").style.minHeight = "";
    tallest = 0;
    for (const name in facts) delete facts[name];
    if (run.has.m) fact("now", "Residual now");
    if (run.has.mx) fact("ever", "Largest residual ever");
    if (run.has.p) {
      fact("edges", "Edges with parked mass");
      fact("largest", "Largest on one edge");
    }
    const unit = run.has.m || run.has.mx ? "residuals in units of " + run.unit : "";
    const parked = run.has.p ? "parked mass is sent but not acknowledged" : "";
    setText(byId("books-about"), [unit, parked].filter(Boolean).join("; "));
  }

  function setResidual(node, value) {
    if (!node) return;
    setText(node, value === undefined ? "–" : watch.whole(value));
    node.classList.toggle("hot", Boolean(value));
  }

  function makeEdge(run, [e, mass], largest) {
    const item = watch.html("li", { class: "edge parked" });
    watch.html("span", { text: run.from[e] + " → " + run.to[e] }, item);
    const bar = watch.html("i", {}, item);
    bar.style.width = watch.clamp((100 * Math.abs(mass)) / largest, 1, 100) + "%";
    watch.html("span", { text: watch.sci(mass) }, item);
    return item;
  }

  function draw(run, frame) {
    setResidual(facts.now, frame.m);
    setResidual(facts.ever, frame.mx);
    if (!run.has.p) return;
    const parked = [...(frame.p || [])].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const largest = parked.length ? Math.abs(parked[0][1]) || 1 : 0;
    setText(facts.edges, watch.whole(parked.length));
    setText(facts.largest, parked.length ? watch.sci(parked[0][1]) : "–");
    const list = watch.html("ul", { class: "edges" });
    for (const pair of parked.slice(0, MOST)) list.append(makeEdge(run, pair, largest));
    const rest = parked.length - MOST;
    const more = rest > 0 ? [watch.html("p", { class: "muted",
      text: "and " + watch.count(rest, "edge") + " with less" })] : [];
    const box = byId("books-parked");
    box.replaceChildren(...(parked.length ? [list] : []), ...more);
    if (!parked.length || box.offsetHeight <= tallest) return;
    tallest = box.offsetHeight;
    box.style.minHeight = tallest + "px";
  }

  watch.sections.push({ id: "books", has: run => run.has.m || run.has.mx || run.has.p,
    build, draw });
})(watch);
