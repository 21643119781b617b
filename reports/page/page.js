"use strict";
/* The address keeps what is searched and filtered: ?q=soft&verdict=worse#Softmax. */
const address = new URL(location.href);
function keep(name, value) {
  value ? address.searchParams.set(name, value) : address.searchParams.delete(name);
  address.hash = location.hash;
  try { history.replaceState(null, "", address); } catch { /* a browser that forbids it for files */ }
}
/* An element; texts never become markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "polyline", "circle", "line", "rect"].includes(tag);
  const one = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) one.addEventListener(event, act);
    else if (value !== null && value !== undefined && value !== false) one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return one;
}
const byId = id => document.getElementById(id);

/* Search: operators of the matrix and of the list, and series. */
const search = byId("search"), named = [...document.querySelectorAll("[data-op]")];
const searched = [];  // functions of views that follow the search
function filter(text, kept) {
  const part = text.trim().toLowerCase();
  for (const one of named) one.hidden = !one.dataset.op.toLowerCase().includes(part);
  if (kept) keep("q", text.trim());
  for (const act of searched) act();
}
if (search) {
  search.value = address.searchParams.get("q") ?? "";
  filter(search.value, false);
  search.addEventListener("input", () => filter(search.value, true));
  search.addEventListener("keydown", event => {
    const left = named.filter(one => !one.hidden);
    if (event.key === "Enter" && left.length > 0) location.hash = encodeURIComponent(left[0].dataset.op);
  });
}
document.addEventListener("keydown", event => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "/" && !typing && search) { event.preventDefault(); showAll(); search.focus(); }
  if (event.key !== "Escape") return;
  if (document.activeElement === search) { search.value = ""; filter("", true); }
  else if (!typing && !byId("view").hidden) location.hash = "matrix";
});

/* A link opens an operator's view, or the closed details around its target. */
function showAll() {
  byId("all").hidden = false;
  byId("view").hidden = true;
}
function open() {
  const parts = location.hash.slice(1).split("/").map(part => { try { return decodeURIComponent(part); } catch { return part; } });
  if (data && (Object.hasOwn(data.operators, parts[0]) || data.lines?.some(line => line?.op === parts[0]))) return showOperator(...parts);
  showAll();
  const target = byId(parts.join("/"));
  for (let at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") at.open = true; at.hidden = false; }
  byId("view").hidden = true;
  target?.scrollIntoView();
}

/* A head sorts its table, by click or Enter: numbers with their units, else texts. */
const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };
function valueOf(cell) {
  const found = cell.textContent.trim().match(/^(-?[0-9.]+(?:e[+-]?[0-9]+)?)\s*(ns|µs|ms|s|%)?$/);
  return found ? Number(found[1]) * (units[found[2]] ?? 1) : cell.textContent.trim() || null;
}
function sort(head) {
  const table = head.closest("table"), first = table.rows[0];
  const down = head.ariaSort === "ascending", column = head.cellIndex, rows = [...table.rows].slice(1);
  for (const one of first.cells) one.removeAttribute("aria-sort");
  head.ariaSort = down ? "descending" : "ascending";
  const compare = (a, b) => a === null ? 1 : b === null ? -1 : typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1) : typeof a === "number" ? -1 : 1;
  rows.map(row => [row.cells[column] ? valueOf(row.cells[column]) : null, row]).sort((a, b) => compare(a[0], b[0])).forEach(([, row]) => row.parentElement.append(row));
}
const headOf = event => {
  const head = event.target.closest?.("th");
  return head && head.parentElement === head.closest("table").rows[0] && head.textContent ? head : null;
};
document.addEventListener("click", event => { const head = headOf(event); if (head) sort(head); });
document.addEventListener("keydown", event => {
  const head = event.key === "Enter" && headOf(event);
  if (head) sort(head);
});
/* Heads can be reached with Tab. */
function reachable(root) {
  for (const head of root.querySelectorAll("table")) for (const cell of head.rows[0]?.cells ?? []) if (cell.tagName === "TH" && cell.textContent) cell.tabIndex = 0;
}
reachable(document);

function copies(root) {
  for (const code of root.querySelectorAll(".repro")) {
    if (!navigator.clipboard || !code.textContent.trim()) continue;
    const button = make("button", { type: "button", on: { click: () => navigator.clipboard.writeText(code.textContent).then(() => { button.textContent = "copied"; }) } }, "copy");
    code.after(button);
  }
}
copies(document);

/* The data: JSON, deflated, in base64. */
let data = null;
async function load() {
  const packed = byId("data").textContent.trim();
  const bytes = await (await fetch(`data:application/octet-stream;base64,${packed}`)).blob();
  data = await new Response(bytes.stream().pipeThrough(new DecompressionStream("deflate"))).json();
  showSeries();
  open();
  document.documentElement.dataset.ready = Math.round(performance.now());
}
addEventListener("hashchange", open);
load();
