/* Views that are made from the data: one operator, and all series. */
const kRows = 200;
const hashOf = (...parts) => "#" + parts.map(encodeURIComponent).join("/");
const lineHash = line => hashOf(line.op, line.case, line.backend, line.metric);
const kernelOf = one => one.kernel ? `${one.provider}/${one.kernel}` : one.provider;
const percent = share => share === null || share === undefined ? "" : typeof share === "string" ? share : `${number(100 * share)} %`;
const cellOf = (content, more = {}) => make("td", more, content ?? "");
const figureCell = text => make("td", { class: "n" }, text ?? "");
function table(heads, rows, more = {}) {
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": more.label ?? heads.join(", ") },
              make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(head => make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows)));
}
/* The change of a series against the nights about 30 before: medians of three. */
function againstMonth(line) {
  const points = pointsOf(line), last = points.slice(-3), edge = data.slots.length - 30;
  const before = points.filter(([slot]) => slot <= edge).slice(-3);
  const middle = list => [...list].sort((a, b) => a[1] - b[1])[Math.floor(list.length / 2)][1];
  return last.length && before.length && middle(before) > 0 ? middle(last) / middle(before) : null;
}
function changeText(line) {
  if (!line.change) return line.verdict;
  const { bad, ratio, low, high, moved } = line.change, night = data.slots[bad];
  return `${line.verdict} ${number(ratio)} times (${number(low)} to ${number(high)}) since ${night.name}, ${night.commit}; suspect: ${moved.length ? `the environment (${moved.join(", ")})` : "the code"}`;
}

function timesTable(name, own, lines) {
  const rows = own.times.map(one => {
    const ofCase = lines.filter(line => line.case === one.case && line.backend === one.backend && line.provider === one.provider);
    const line = ofCase.find(each => each.metric === "executeDevice") ?? ofCase.find(each => each.metric === "executeWall");
    const ratio = line ? againstMonth(line) : null;
    const nights = line ? make("a", { href: lineHash(line) }, polyline(line, 140, 28)) : "";
    return make("tr", { "data-case": one.case, class: one.status ? "bad" : null },
                cellOf(make("code", {}, one.case)), cellOf(one.backend), cellOf(kernelOf(one)), cellOf(nights), figureCell(ratio ? number(ratio) : ""), ...["executeDevice", "executeWall", "resizeWarm", "resizeCold", "create"].map(field => figureCell(time(one[field]))),
                figureCell(number(one.gflops)), figureCell(number(one.gbs)), figureCell(percent(one.roof)), cellOf(strip(one.runs, one.samples)));
  });
  return table(["case", "backend", "kernel", "nights", "/ 30 nights ago", "execute device", "execute host", "resize warm", "resize cold", "create", "GFLOP/s", "GB/s", "of the roof", "runs"], rows, { label: `Times of ${name}` });
}
/* The large chart with a choice of series; the address names the series. */
function nightsPart(lines, chosen) {
  const host = make("div", { class: "chart" }), text = make("p", { class: "note" });
  const select = make("select", { id: "line" }, ...lines.map((line, i) => make("option", { value: i }, `${line.case} on ${line.backend}, ${line.metric}${line.options ? ` ${line.options}` : ""}${line.provider ? `, ${line.provider}` : ""}`)));
  const draw = () => {
    const line = lines[select.value];
    nightsChart(host, line);
    text.textContent = `${summary(line)}. ${changeText(line)}.`;
  };
  select.value = Math.max(0, lines.indexOf(chosen));
  select.addEventListener("change", () => {
    history.replaceState(null, "", lineHash(lines[select.value]));
    draw();
  });
  redraws.add(draw);
  queueMicrotask(draw);
  return [make("h2", {}, "Nights"), make("p", {}, make("label", { for: "line" }, "Series "), select), host, text];
}
function rooflinePart(own) {
  return Object.entries(data.roofs).flatMap(([backend, roof]) => {
    const times = own.times.filter(one => one.backend === backend);
    if (!times.some(one => one.intensity > 0 && one.gflops > 0)) return [];
    const host = make("div", { class: "chart" }), draw = () => { host.chart?.destroy(); host.replaceChildren(); rooflineChart(host, roof, times); };
    redraws.add(draw);
    queueMicrotask(draw);
    return [make("h2", {}, `Roofline on ${backend}`), make("p", { class: "note" }, `Plain loops reached ${number(roof.flops)} GFLOP/s and ${number(roof.bytes)} GB/s in these runs. A point is a case: operations per byte of inputs and outputs, and its rate.`), host];
  });
}
function accessPart(own) {
  if (own.access.length === 0) return [];
  const estimates = one => Object.entries(one.estimates).map(([gpu, { ns, limit }]) => `${gpu} ${time(ns)} (${limit})`).join(", ");
  return [make("h2", {}, "Memory accesses of a GPU"), make("p", { class: "note" }, "Counted from traces of the shaders. Estimates are least times; they were not measured."),
          table(["case", "device", "efficiency", "requests", "banks", "groups", "estimates"], own.access.map(one => make("tr", {}, cellOf(make("code", {}, one.case)), cellOf(one.device), figureCell(percent(one.efficiency)), figureCell(number(one.requests)), figureCell(number(one.banks)), figureCell(number(one.groups)), cellOf(estimates(one)))))];
}
function mutantsPart(own) {
  const backends = Object.entries(own.mutants);
  if (backends.length === 0) return [];
  const score = fates => { const killed = fates.killed ?? 0, survived = fates.survived ?? 0; return killed + survived ? percent(killed / (killed + survived)) : ""; };
  return [make("h2", {}, "Mutants"), table(["backend", "killed share", "fates"], backends.map(([backend, fates]) => make("tr", {}, cellOf(backend), figureCell(score(fates)), cellOf(Object.entries(fates).map(([fate, count]) => `${count} ${fate}`).join(", ")))))];
}
const isBad = status => !["pass", "unsupported", "skip", "unproved", "expected", "flake"].includes(status);
/* Failures first. */
function casesPart(own, chosen) {
  if (own.cases.length === 0) return [];
  const sorted = [...own.cases].sort((a, b) => isBad(b[2]) - isBad(a[2]));
  const host = make("div"), text = make("input", { type: "search", "aria-label": "Filter the cases", placeholder: "part of an id or a reason", value: chosen ?? "" });
  const status = make("select", { "aria-label": "Status of the cases" }, make("option", { value: "" }, "every status"), ...[...new Set(own.cases.map(row => row[2]))].map(one => make("option", { value: one }, one)));
  const draw = () => {
    const part = text.value.trim().toLowerCase();
    const found = sorted.filter(row => (!status.value || row[2] === status.value) && (!part || row[0].toLowerCase().includes(part) || (row[6] ?? "").toLowerCase().includes(part)));
    const rows = found.slice(0, kRows).map(row => make("tr", { class: isBad(row[2]) ? "bad" : null }, cellOf(make("code", {}, row[0])), cellOf(row[1]), cellOf(row[2]), figureCell(percent(row[3])), figureCell(number(row[4])), cellOf(row[5]), cellOf(row[6])));
    host.replaceChildren(table(["case", "backend", "status", "share of the bound", "ULP", "kernel", "reason"], rows), make("p", { class: "note" }, found.length > kRows ? `${kRows} of ${found.length} cases; a filter finds the others.` : `${found.length} of ${own.cases.length} cases.`, own.moreCases ? ` The page leaves out ${own.moreCases} more.` : ""));
    reachable(host);
  };
  text.addEventListener("input", draw);
  status.addEventListener("change", draw);
  draw();
  return [make("h2", { id: "cases" }, "Cases"), make("p", {}, text, " ", status), host];
}
function findingsPart(lines) {
  const own = (data.findings ?? []).map((finding, i) => [finding, i]).filter(([finding]) => finding.lines.some(line => lines.includes(data.lines[line])));
  if (own.length === 0) return [];
  return [make("ul", {}, ...own.map(([finding, i]) => make("li", { class: finding.worse ? "bad" : null }, make("a", { href: `#finding-${i + 1}` }, finding.what), `, ${finding.since}; suspect: ${finding.suspect}`)))];
}

function showOperator(name, id, backend, metric) {
  const own = Object.hasOwn(data.operators, name) ? data.operators[name] : { backends: [], times: [], cases: [], notRun: [], access: [], mutants: {} };
  const lines = (data.lines ?? []).filter(line => line && line.op === name);
  const chosen = lines.find(line => line.case === id && line.backend === backend && line.metric === metric) ?? ["executeDevice", "executeWall"].map(one => lines.find(line => line.metric === one)).find(Boolean) ?? lines[0];
  const view = byId("view"), part = (title, content) => content ? [make("h2", {}, title), content] : [];
  redraws.clear();
  const backends = own.backends.map(one => make("tr", { class: one.bad ? "bad" : null }, cellOf(one.backend), cellOf(one.cases), cellOf(one.kernels.join(", ")), figureCell(percent(one.margin)), figureCell(number(one.ulp)), cellOf(make("code", {}, one.worst))));
  const notRun = own.notRun.map(([count, what, reason]) => make("tr", {}, figureCell(count), cellOf(what), cellOf(reason)));
  view.replaceChildren(
    make("p", {}, make("a", { href: "#matrix" }, "← all operators")), make("h1", { tabindex: "-1" }, name),
    own.summary ? make("p", {}, own.summary, " ", make("code", {}, own.page ?? "")) : "",
    ...findingsPart(lines),
    ...part("Checks", backends.length ? table(["backend", "cases", "kernels", "worst share of the bound", "worst ULP", "worst case"], backends) : null),
    ...part("Times", own.times.length ? timesTable(name, own, lines) : null),
    own.times.length ? make("p", { class: "note" }, "Medians; of several process runs, the middle one by execute time. Runs: the least of each process run is a dot, the box holds the middle half of one run's samples. / 30 nights ago: the median of the last three nights over that of three nights thirty nights before." + (own.moreTimes ? ` The page leaves out ${own.moreTimes} more.` : "")) : "",
    ...(lines.length ? nightsPart(lines, chosen) : []), ...rooflinePart(own), ...accessPart(own), ...mutantsPart(own),
    ...part("Not run", notRun.length ? table(["cases", "what", "reason"], notRun) : null), ...casesPart(own, metric ? "" : id));
  for (const row of view.querySelectorAll("tr[data-case]")) if (row.dataset.case === id) row.classList.add("chosen");
  byId("all").hidden = true;
  view.hidden = false;
  document.title = `${name}, OpKit report`;
  reachable(view);
  scrollTo(0, 0);
  view.querySelector("h1").focus({ preventScroll: true });
}

/* All series with filters: what got slower this week on Vulkan? */
function showSeries() {
  const host = byId("series");
  const lines = (data.lines ?? []).filter(Boolean);
  if (!host || lines.length === 0) return;
  const chooser = (name, label, values) => {
    const one = make("select", { id: `of-${name}` }, make("option", { value: "" }, "all"), ...values.map(value => make("option", { value }, value)));
    one.value = address.searchParams.get(name) ?? "";
    if (one.selectedIndex < 0) one.value = "";
    one.addEventListener("change", () => { keep(name, one.value); draw(); });
    return [one, make("label", { for: `of-${name}` }, `${label} `, one)];
  };
  const valuesOf = field => [...new Set(lines.map(line => line[field]))].sort();
  const [verdict, verdictLabel] = chooser("verdict", "Verdict", valuesOf("verdict"));
  const [backend, backendLabel] = chooser("backend", "Backend", valuesOf("backend"));
  const [metric, metricLabel] = chooser("metric", "Metric", valuesOf("metric"));
  const [nights, nightsLabel] = chooser("nights", "Changed in the last", ["1 night", "7 nights", "30 nights"]);
  const results = make("div");
  const sorted = [...lines].sort((a, b) => (b.change ? Math.abs(Math.log(b.change.ratio)) : -1) - (a.change ? Math.abs(Math.log(a.change.ratio)) : -1));
  const texts = new Map(sorted.map(line => [line, `${line.op} ${line.case}`.toLowerCase()]));
  const draw = () => {
    const part = search.value.trim().toLowerCase(), oldest = nights.value ? data.slots.length - parseInt(nights.value, 10) : 0;
    const found = sorted.filter(line => texts.get(line).includes(part) && (!verdict.value || line.verdict === verdict.value) && (!backend.value || line.backend === backend.value) && (!metric.value || line.metric === metric.value) && (!nights.value || (line.change && line.change.bad >= oldest)));
    const rows = found.slice(0, kRows / 2).map(line => make("tr", { class: line.verdict === "worse" ? "bad" : null }, cellOf(make("a", { href: lineHash(line) }, line.case)), cellOf(line.backend), cellOf(line.metric), cellOf(changeText(line)), figureCell(number(againstMonth(line))), cellOf(polyline(line, 140, 28))));
    results.replaceChildren(table(["case", "backend", "metric", "verdict", "/ 30 nights ago", "nights"], rows), make("p", { class: "note" }, `${Math.min(found.length, kRows / 2)} of ${found.length} series that match, of ${lines.length}.`));
    reachable(results);
  };
  host.replaceChildren(make("h2", {}, "Series"), make("p", { class: "filters" }, verdictLabel, " ", backendLabel, " ", metricLabel, " ", nightsLabel), results);
  host.hidden = false;
  searched.push(draw);
  draw();
}
