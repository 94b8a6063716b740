// The object that all files of the page share, and helpers for the document.
const watch = { sections: [] };

(function (watch) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  watch.byId = id => document.getElementById(id);
  watch.clamp = (x, low, high) => Math.min(high, Math.max(low, x));

  /** Makes an SVG element. Attributes are presentation attributes, never `style`. */
  watch.svg = function (name, attributes, parent) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (parent) parent.append(node);
    return node;
  };

  /** Makes an HTML element. `text` becomes its text content, other keys become attributes. */
  watch.html = function (name, attributes, parent) {
    const node = document.createElement(name);
    for (const key in attributes) {
      if (key === "text") node.textContent = attributes.text;
      else node.setAttribute(key, attributes[key]);
    }
    if (parent) parent.append(node);
    return node;
  };

  /** Sets the text of an element and leaves the document alone if it has not changed. */
  watch.setText = function (node, value) {
    if (node.shownText === value) return;
    node.shownText = value;
    node.textContent = value;
  };

  /** Sets an attribute and leaves the document alone if it has not changed. */
  watch.setAttribute = function (node, name, value) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  };

  /** Sets a figure with a unit in small type, such as "74.5 MB". */
  watch.setFigure = function (node, figure, unit) {
    const key = figure + "|" + unit;
    if (node.shownText === key) return;
    node.shownText = key;
    node.replaceChildren(figure);
    if (unit) node.append(" ", watch.html("small", { text: unit }));
  };

  /** Fits a canvas to its CSS size in device pixels; gives its context, or null if hidden. */
  watch.fitCanvas = function (canvas, width, height) {
    if (!(width > 0) || !(height > 0)) return null;
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(width * ratio);
    const h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.height = height + "px";
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.textBaseline = "middle";
    return context;
  };

  watch.font = size => size + 'px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

  const ICONS = {
    u: [["circle", { cx: 6, cy: 6, r: 4, fill: "var(--muted)" }]],
    j: [["circle", { cx: 6, cy: 6, r: 4.3, fill: "none", stroke: "var(--accent)",
      "stroke-width": 3 }]],
    s: [["circle", { cx: 6, cy: 6, r: 5, fill: "none", stroke: "var(--warn)",
      "stroke-width": 2, "stroke-dasharray": "1.5 2.5" }]],
    d: [["path", { d: "M2 2l8 8M10 2l-8 8", stroke: "var(--alert)", "stroke-width": 2 }]],
    l: [["path", { d: "M1.5 6h9", stroke: "var(--muted)", "stroke-width": 2 }]],
    n: [["circle", { cx: 6, cy: 6, r: 4.4, fill: "none", stroke: "var(--muted)",
      "stroke-width": 1.2 }],
      ["path", { d: "M2 10L10 2", stroke: "var(--muted)", "stroke-width": 1.2 }]],
    play: [["path", { d: "M3 1v10l8-5z", fill: "currentColor" }]],
    pause: [["path", { d: "M2 1h3v10H2zM7 1h3v10H7z", fill: "currentColor" }]],
    previous: [["path", { d: "M1 1h2v10H1zM11 1v10L4 6z", fill: "currentColor" }]],
    next: [["path", { d: "M9 1h2v10H9zM1 1v10l7-5z", fill: "currentColor" }]],
    close: [["path", { d: "M2 2l8 8M10 2l-8 8", stroke: "currentColor", "stroke-width": 1.6 }]],
    left: [["path", { d: "M8 1.5L3.5 6L8 10.5", stroke: "currentColor", fill: "none",
      "stroke-width": 1.6 }]],
    right: [["path", { d: "M4 1.5L8.5 6L4 10.5", stroke: "currentColor", fill: "none",
      "stroke-width": 1.6 }]],
    theme: [["circle", { cx: 6, cy: 6, r: 4.6, fill: "none", stroke: "currentColor",
      "stroke-width": 1.3 }], ["path", { d: "M6 1.4a4.6 4.6 0 0 1 0 9.2z", fill: "currentColor" }]],
    good: [["path", { d: "M2 6.5L4.8 9L10.2 3", fill: "none", stroke: "var(--accent)",
      "stroke-width": 1.5, "stroke-linecap": "round", "stroke-linejoin": "round" }]],
    fall: [["path", { d: "M1.5 2.5C4.5 2.5 5 8.8 10.7 8.8", fill: "none",
      stroke: "var(--accent)", "stroke-width": 1.5, "stroke-linecap": "round" }]],
    heal: [["path", { d: "M9.8 6a3.8 3.8 0 1 1-1.2-2.8", fill: "none", stroke: "var(--warn)",
      "stroke-width": 1.4, "stroke-linecap": "round" }],
      ["path", { d: "M10.2 1.2v3h-3z", fill: "var(--warn)" }]],
    bad: [["path", { d: "M6 1.6l4.9 8.8H1.1z", fill: "none", stroke: "var(--alert)",
      "stroke-width": 1.2, "stroke-linejoin": "round" }],
      ["path", { d: "M6 4.9v2.6M6 8.9v.3", stroke: "var(--alert)", "stroke-width": 1.2,
        "stroke-linecap": "round" }]],
    quiet: [["path", { d: "M2 6h.01M6 6h.01M10 6h.01", stroke: "var(--warn)",
      "stroke-width": 2.2, "stroke-linecap": "round" }]],
  };

  /** An icon of 12 by 12 units; decoration only, so it is hidden from screen readers. */
  watch.icon = function (name, parent) {
    const node = watch.svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true", class: "icon" });
    for (const [shape, attributes] of ICONS[name] || []) watch.svg(shape, attributes, node);
    if (parent) parent.append(node);
    return node;
  };
})(watch);
