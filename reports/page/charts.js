/* Charts: small ones as SVG; large ones by uPlot if the page has it. */
const number = value => value === null || value === undefined ? "" : typeof value === "string" ? value : value === 0 ? "0" : Number(value.toPrecision(3)).toString();
function time(ns) {
  if (ns === null || ns === undefined) return "";
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) if (ns >= scale) return `${number(ns / scale)} ${unit}`;
  return `${number(ns)} ns`;
}
const isTime = metric => /^(execute|resize|create|time$)/.test(metric);
const shown = (metric, value) => isTime(metric) ? time(value) : metric === "margin" ? `${number(100 * value)} %` : number(value);

/* Values at their slots. */
const pointsOf = line => line.values.map((value, i) => [line.first + i, value]).filter(point => point[1] !== null);
function summary(line) {
  const values = pointsOf(line).map(point => point[1]);
  if (values.length === 0) return "no night";
  return `${values.length} ${values.length === 1 ? "night" : "nights"}: first ${shown(line.metric, values[0])}, least ${shown(line.metric, Math.min(...values))}, last ${shown(line.metric, values.at(-1))}`;
}
function polyline(line, width, height) {
  const points = pointsOf(line).slice(-90);
  const label = summary(line);
  const picture = make("svg", { class: "spark", role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` });
  if (points.length < 2) return picture;
  const from = points[0][0], span = Math.max(1, points.at(-1)[0] - from), values = points.map(point => point[1]), most = Math.max(...values);
  // From three quarters of the largest value up, so that a tenth more is seen, or from the least.
  const low = Math.min(...values, .75 * most), range = most - low || 1;
  const place = ([slot, value]) => [3 + (width - 6) * (slot - from) / span, height - 3 - (height - 6) * (value - low) / range];
  if (line.change && line.change.bad >= from) {
    const x = place([line.change.bad - .5, low])[0];
    picture.append(make("line", { class: line.verdict, x1: x, x2: x, y1: 0, y2: height }));
  }
  picture.append(make("polyline", { points: points.map(point => place(point).map(part => part.toFixed(1)).join()).join(" ") }));
  const [x, y] = place(points.at(-1));
  picture.append(make("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 2.5 }));
  return picture;
}
/* Process runs of tonight on one axis, with quartiles of the samples of one. */
function strip(runs, samples) {
  const width = 120, height = 18, all = [...runs, ...(samples ?? [])], least = Math.min(...all), most = Math.max(...all);
  if (all.length < 2 || most <= least) return "";
  const x = value => (4 + (width - 8) * (value - least) / (most - least)).toFixed(1);
  const label = `${runs.length} process ${runs.length === 1 ? "run" : "runs"}, least of each: ${runs.map(time).join(", ")}` + (samples ? `; quartiles of the samples of one: ${samples.map(time).join(", ")}` : "");
  const picture = make("svg", { class: "spark", role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` });
  if (samples) picture.append(make("rect", { x: x(samples[0]), y: 5, width: Math.max(1, x(samples[2]) - x(samples[0])), height: 8 }), make("line", { x1: x(samples[1]), x2: x(samples[1]), y1: 3, y2: 15 }));
  for (const run of runs) picture.append(make("circle", { cx: x(run), cy: 9, r: 2.5 }));
  return picture;
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const axis = more => ({ stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui, sans-serif", ...more });
const widthOf = host => Math.max(240, Math.min(host.clientWidth || innerWidth - 32, 1100));
function upright(u, slot, text, stroke, dash) {
  const x = Math.round(u.valToPos(slot, "x", true)), context = u.ctx, pixels = devicePixelRatio;
  context.save();
  context.strokeStyle = context.fillStyle = stroke;
  context.lineWidth = 1.5 * pixels;
  context.setLineDash(dash.map(part => part * pixels));
  context.beginPath(), context.moveTo(x, u.bbox.top), context.lineTo(x, u.bbox.top + u.bbox.height), context.stroke();
  context.font = `${12 * pixels}px system-ui, sans-serif`;
  const right = x + context.measureText(text).width + 4 * pixels > u.bbox.left + u.bbox.width;
  context.textAlign = right ? "right" : "left";
  context.fillText(text, x + (right ? -4 : 4) * pixels, u.bbox.top - 6 * pixels);
  context.restore();
}
/* One series over all its nights: its change, commits, and where the environment moved. */
function nightsChart(host, line) {
  host.chart?.destroy();
  host.replaceChildren();
  host.chart = null;
  if (typeof uPlot === "undefined") {
    host.append(polyline(line, widthOf(host), 120));
    return;
  }
  const slots = data.slots, x = slots.map((_, slot) => slot), y = x.map(slot => line.values[slot - line.first] ?? null);
  const from = Math.max(0, line.first - 1), moved = data.moved[line.timeline].filter(([slot]) => slot >= from);
  const atSlot = slot => slots[slot] ? `${slots[slot].name}, ${slots[slot].commit || "no commit"}${slots[slot].nights > 1 ? `, ${slots[slot].nights} nights` : ""}` : "";
  const draw = u => {
    for (const [slot, what] of moved) upright(u, slot - .5, what, colour("soft"), [4, 4]);
    if (line.change) upright(u, line.change.bad - .5, `${line.verdict} ${number(line.change.ratio)} times`, colour(line.verdict === "worse" ? "all" : "accent"), []);
  };
  host.chart = new uPlot({
    width: widthOf(host), height: 280, padding: [22, 8, 0, 0],
    scales: { x: { time: false, range: [from - .5, slots.length - .5] }, y: { range: (_, least, most) => [0, most * 1.05 || 1] } },
    axes: [axis({ values: (_, at) => at.map(slot => Number.isInteger(slot) ? slots[slot]?.name ?? "" : ""), space: 90 }), axis({ values: (_, at) => at.map(value => shown(line.metric, value)), size: 70 })],
    series: [{ label: "night", value: (_, slot) => slot === null ? "" : atSlot(slot) }, { label: line.metric, stroke: colour("accent"), width: 1.5, spanGaps: true, points: { show: true, size: 5, fill: colour("accent") }, value: (_, value) => value === null ? "" : shown(line.metric, value) }],
    hooks: { draw: [draw] },
  }, [x, y], host);
}
/* Cases below the two roofs that plain loops reach. */
function rooflineChart(host, roof, times) {
  const cases = times.filter(one => one.intensity > 0 && one.gflops > 0).sort((a, b) => a.intensity - b.intensity);
  if (typeof uPlot === "undefined" || cases.length === 0) return;
  const ridge = roof.flops / roof.bytes, least = Math.min(ridge, cases[0].intensity) / 4, most = Math.max(ridge, cases.at(-1).intensity) * 4;
  const limit = value => Math.min(roof.flops, roof.bytes * value);
  const x = [...new Set([least, ...cases.map(one => one.intensity), ridge, most])].sort((a, b) => a - b);
  const rows = [x, x.map(limit), ...cases.map(one => x.map(value => value === one.intensity ? one.gflops : null))];
  const log = { distr: 3 };
  host.chart = new uPlot({
    width: Math.min(widthOf(host), 640), height: 260, legend: { show: false },
    scales: { x: { time: false, ...log }, y: log },
    axes: [axis({ label: "operations per byte", labelFont: "12px system-ui, sans-serif", values: (_, at) => at.map(number) }), axis({ label: "GFLOP/s", labelFont: "12px system-ui, sans-serif", size: 60, values: (_, at) => at.map(number) })],
    series: [{}, { label: "roof", stroke: colour("soft"), width: 1.5 }, ...cases.map(one => ({ label: one.case, stroke: colour("accent"), points: { show: true, size: 7, fill: colour("accent") } }))],
  }, rows, host);
}
/* Colours change with the scheme. */
const redraws = new Set();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const act of redraws) act(); });
