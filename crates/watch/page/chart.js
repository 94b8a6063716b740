// One chart over the run, drawn by uPlot: a title that carries the values, and the curves.
// Logarithmic charts get log10 of their values, so that the axis itself is linear.
(function (watch) {
  "use strict";

  const FALL_TICKS = [0, Math.log10(2), Math.log10(5)];

  /** Text of a value on the axis or in the title. */
  const valueText = (log, y) => (y === null || y === undefined ? "–"
    : log ? watch.fromLog(y * 100) : watch.plain(y));

  function yRange(log, target) {
    return (plot, low, high) => {
      if (low === null || high === null) return log ? [-1, 0] : [0, 1];
      if (!log) {
        const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
        return [low - pad, high + pad];
      }
      const bottom = Math.max(low, -30);
      const least = target === undefined ? bottom : Math.min(bottom, target);
      return [Math.floor(least * 4) / 4 - 0.1, Math.ceil(high * 4) / 4 + 0.05];
    };
  }

  /** Decades, or 1, 2 and 5 if there are fewer than two of them. */
  function ySplits(log) {
    if (!log) return undefined;
    return (plot, axis, low, high) => {
      const splits = [];
      const fine = high - low < 1.6;
      const tall = plot.bbox.height / (window.devicePixelRatio || 1) / 18;
      const step = Math.max(1, Math.ceil((high - low) / tall));
      for (let d = Math.floor(low); d <= high; d += 1) {
        for (const part of fine ? FALL_TICKS : [0]) {
          const y = d + part;
          if (y >= low && y <= high && (fine || d % step === 0)) splits.push(y);
        }
      }
      return splits;
    };
  }

  /** Leaves out a text that would be cut off at the right edge. */
  function fitTexts(plot, splits, texts) {
    const width = plot.bbox.width / (window.devicePixelRatio || 1);
    return texts.map((text, i) => (plot.valToPos(splits[i], "x") + 3.6 * text.length > width + 10
      ? "" : text));
  }

  function axes(spec) {
    const colour = name => () => watch.colours()[name];
    // The size must be a whole number, since uPlot scales it by a pattern for digits.
    const common = { stroke: colour("muted"), font: watch.font(12), ticks: { show: false } };
    return [
      { ...common, show: true, size: spec.axis ? 24 : 8, gap: 6, grid: { show: false },
        incrs: spec.increments(), space: spec.space || 80,
        values: (plot, splits) => (spec.axis ? fitTexts(plot, splits, spec.xTexts(splits))
          : splits.map(() => "")) },
      { ...common, size: 62, gap: 6, space: 28, splits: ySplits(spec.log),
        grid: { stroke: colour("line"), width: 1 },
        values: (plot, splits) => splits.map(y => (spec.log ? watch.short(10 ** y)
          : watch.plain(y))) },
    ];
  }

  const STYLES = {
    worst: { stroke: "ink", width: 1.6 },
    median: { stroke: "muted", width: 1.1, dash: [4, 3] },
    low: { stroke: "band", width: 0.5 },
    one: { stroke: "accent", width: 1.6 },
    other: { stroke: "muted", width: 1.3, dash: [4, 3] },
  };

  function seriesOptions(spec) {
    const options = spec.series.map(({ style }) => {
      const { stroke, width, dash } = STYLES[style];
      const many = plot => plot.data[0].length < 40;
      return { stroke: () => watch.colours()[stroke], width, dash,
        points: { show: style === "low" ? false : many, size: 4,
          fill: () => watch.colours()[stroke] } };
    });
    return [{}, ...options];
  }

  function bands(spec) {
    const low = spec.series.findIndex(one => one.style === "low") + 1;
    const high = spec.series.findIndex(one => one.style === "worst") + 1;
    return low && high ? [{ series: [high, low], fill: () => watch.colours().band }] : [];
  }

  /** Line with the name of the chart and the values at the moment or under the pointer. */
  function makeTitle(box, spec) {
    const title = watch.html("h3", {}, box);
    watch.html("span", { class: "name", text: spec.title }, title);
    return spec.series.map(one => {
      if (one.style === "low") return null;
      const part = watch.html("span", {}, title);
      if (spec.series.length > 1) {
        const key = watch.svg("svg", { width: 20, height: 8, "aria-hidden": "true" }, part);
        watch.svg("path", { d: "M0 4h20", class: "curve " + one.style }, key);
      }
      const name = watch.html("span", { text: one.name || "" }, part);
      return { part, name, value: watch.html("b", {}, part) };
    });
  }

  /** Marks over the curves: target, deaths, the pale future, and the moment shown. */
  function drawMarks(plot, spec, moment) {
    const { ctx, bbox } = plot;
    const ratio = window.devicePixelRatio || 1;
    const colours = watch.colours();
    const line = (x1, y1, x2, y2, colour, width, dash) => {
      ctx.beginPath();
      ctx.setLineDash((dash || []).map(d => d * ratio));
      ctx.moveTo(x1, y1);
      ctx.lineTo(x2, y2);
      ctx.strokeStyle = colour;
      ctx.lineWidth = width * ratio;
      ctx.stroke();
    };
    ctx.save();
    const [left, right, top] = [bbox.left, bbox.left + bbox.width, bbox.top];
    const bottom = top + bbox.height;
    const x = moment.x === null ? NaN : plot.valToPos(moment.x, "x", true);
    if (x < right - 1) {
      ctx.globalAlpha = 0.72;
      ctx.fillStyle = colours[spec.ground || "paper"];
      ctx.fillRect(x, top - ratio, right - x + 2 * ratio, bbox.height + 2 * ratio);
      ctx.globalAlpha = 1;
    }
    if (spec.target !== undefined) {
      const y = plot.valToPos(spec.target, "y", true);
      line(left, y, right, y, colours.muted, 1, [1, 4]);
      ctx.font = watch.font(11.5 * ratio);
      ctx.fillStyle = colours.muted;
      ctx.textAlign = "left";
      ctx.textBaseline = "bottom";
      ctx.fillText("target", left + 5 * ratio, y - 3 * ratio);
    }
    for (const death of spec.deaths ? spec.deaths() : []) {
      const at = plot.valToPos(death, "x", true);
      if (at >= left && at <= right) line(at, top - 8 * ratio, at, top, colours.alert, 1.5);
    }
    if (!Number.isNaN(x)) drawMoment(ctx, plot, { x, top, bottom, y: moment.y }, line, ratio);
    ctx.restore();
  }

  function drawMoment(ctx, plot, { x, top, bottom, y }, line, ratio) {
    const colours = watch.colours();
    line(x, top, x, bottom, colours.accent, 1.25);
    if (y === null || y === undefined) return;
    ctx.beginPath();
    ctx.setLineDash([]);
    ctx.arc(x, plot.valToPos(y, "y", true), 4 * ratio, 0, 7);
    ctx.fillStyle = colours.accent;
    ctx.strokeStyle = colours.paper;
    ctx.lineWidth = 1.5 * ratio;
    ctx.fill();
    ctx.stroke();
  }

  /** Pointing reads, dragging moves the moment. */
  function listen(plot, spec, chart) {
    const { over } = plot;
    const seek = event => {
      const left = event.clientX - over.getBoundingClientRect().left;
      spec.seek(plot.posToIdx(left));
    };
    over.addEventListener("pointerdown", event => {
      if (event.button === 0) seek(event);
    });
    over.addEventListener("pointermove", event => {
      if (event.buttons & 1) seek(event);
    });
    over.addEventListener("pointerleave", () => {
      chart.over = null;
      chart.showValues();
    });
  }

  function options(holder, spec, chart, moment) {
    return {
      width: Math.max(200, holder.clientWidth), height: spec.height(), legend: { show: false },
      padding: [spec.deaths ? 12 : 6, 10, 0, 0], bands: bands(spec),
      scales: { x: { time: false, range: (plot, low, high) => [low, high > low ? high : low + 1] },
        y: { range: yRange(spec.log, spec.target) } },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false },
        sync: { key: spec.sync || "run", setSeries: false } },
      series: seriesOptions(spec), axes: axes(spec),
      hooks: {
        draw: [plot => drawMarks(plot, spec, moment)],
        setCursor: [plot => {
          const inside = plot.cursor.left >= 0 && plot.cursor.idx !== null;
          chart.over = inside ? plot.cursor.idx : null;
          if (chart.plot) chart.showValues();
        }],
      },
    };
  }

  /** Makes a chart in `box`. `spec` has title, series, log, height, axis, increments, xTexts,
   *  seek, and optionally target, deaths, sync and ground. */
  watch.newChart = function (box, spec) {
    const chart = { over: null, at: null, plot: null };
    const values = makeTitle(box, spec);
    const holder = watch.html("div", { class: "plot", role: "img" }, box);
    const moment = { x: null, y: null };
    chart.showValues = function () {
      const index = chart.over === null ? chart.at : chart.over;
      values.forEach((value, s) => {
        if (!value || index === null) return;
        watch.setText(value.value, valueText(spec.log, chart.plot.data[s + 1][index]));
      });
    };
    chart.setSeries = function (s, shown, name) {
      values[s].part.hidden = !shown;
      watch.setText(values[s].name, name);
    };
    chart.plot = new uPlot(options(holder, spec, chart, moment),
      [[], ...spec.series.map(() => [])], holder);
    listen(chart.plot, spec, chart);
    chart.setData = function (data, index) {
      chart.plot.setData(data, false);
      chart.plot.setScale("x", { min: data[0][0], max: data[0][data[0].length - 1] });
      chart.moveTo(index);
    };
    chart.moveTo = function (index) {
      const { data } = chart.plot;
      chart.at = index;
      moment.x = index === null || !data[0].length ? null : data[0][index];
      moment.y = index === null ? null : data[1][index];
      chart.showValues();
      chart.plot.redraw(false, false);
    };
    chart.resize = function () {
      const size = { width: Math.max(200, holder.clientWidth), height: spec.height() };
      if (size.width !== chart.plot.width || size.height !== chart.plot.height) {
        chart.plot.setSize(size);
      }
    };
    chart.describe = text => watch.setAttribute(holder, "aria-label", text);
    chart.remove = () => chart.plot.destroy();
    return chart;
  };

  watch.valueText = valueText;
})(watch);
