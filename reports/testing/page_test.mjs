// Opens pages in a headless Chromium: node page_test.mjs TOOLS DEMONSTRATION FAILED NUMBERS WORK
// DEMONSTRATION is the page of op-report demo, FAILED one without a history, with a failure, NUMBERS one of detect --series.
// TOOLS is the folder of node_modules (./setup --page). Prints one line per fault; exit 1 if there is one.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [tools, page, failed, numbers, work] = process.argv.slice(2).map(part => path.resolve(part));
const require = createRequire(path.join(tools, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = require.resolve("axe-core/axe.min.js");
const address = pathToFileURL(page).href, failure = pathToFileURL(failed).href;
let faults = 0;
const expect = (holds, text) => { if (!holds) { ++faults; console.log(`page_test: ${text}`); } };

const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], env: { ...process.env, HOME: work } });
const tab = await browser.newPage();
const said = [];
tab.on("console", message => said.push(message.text()));
tab.on("pageerror", error => said.push(String(error)));
tab.on("request", request => { if (!/^(file|data):/.test(request.url())) said.push(`asked for ${request.url()}`); });

async function go(suffix = "", of = address) {
  await tab.goto("about:blank");
  await tab.goto(of + suffix);
  await tab.waitForSelector("html[data-ready]", { timeout: 10000 });
  await settle();
}
const settle = () => tab.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0))));
const ask = (act, ...more) => tab.evaluate(act, ...more);
const isShown = selector => ask(one => { const found = document.querySelector(one); return Boolean(found) && found.getClientRects().length > 0; }, selector);
async function clean(what) {
  await tab.addScriptTag({ path: axe });
  const found = await ask(async () => (await axe.run({ resultTypes: ["violations"] })).violations.map(one => `${one.id}: ${one.nodes.length} x ${one.nodes[0].html.slice(0, 120)}`));
  for (const one of found) expect(false, `axe, ${what}: ${one}`);
}
const picture = name => tab.screenshot({ path: path.join(work, `${name}.png`) });

/* Search, sort, links. */
await tab.setViewport({ width: 1400, height: 900 });
await go();
expect(await isShown('.index [data-op="Relu"]') && await isShown('.index [data-op="Softmax"]'), "an operator is hidden without a search");
await go("?q=soft");
expect(!await isShown('.index [data-op="Relu"]') && await isShown('.index [data-op="Softmax"]'), "the search does not hide Relu alone");
expect(!await isShown('tr[data-op="Relu"]') && await isShown('tr[data-op="Softmax"]'), "the search leaves the matrix as it is");
await go();
await tab.keyboard.press("/");
await tab.keyboard.type("rel");
expect(await isShown('.index [data-op="Relu"]') && !await isShown('.index [data-op="Softmax"]'), "typing does not search");
expect(await ask(() => location.search) === "?q=rel", "the search is not in the address");
await tab.keyboard.press("Enter");
await settle();
expect(await ask(() => !byId("view").hidden && document.querySelector("#view h1").textContent) === "Relu", "Enter does not open the first operator");
await tab.keyboard.press("Escape");
await settle();
expect(await isShown("#matrix"), "Escape does not lead back");
await go("?q=relu#Softmax");
expect(await ask(() => document.querySelector("#view h1")?.textContent) === "Softmax", "a link does not open its operator");
await go();
await tab.click(".matrix th");
await tab.click(".matrix th");
const rows = await ask(() => [...document.querySelectorAll(".matrix tr[data-op]")].map(one => one.dataset.op));
expect(rows[0] > rows.at(-1), "a head does not sort its table");
await tab.focus(".matrix th");
await tab.keyboard.press("Enter");
expect(await ask(() => document.querySelector(".matrix tr[data-op]").dataset.op) === rows.at(-1), "Enter on a head does not sort");

/* Each link of the page and of a view lands. */
async function landings(where) {
  const hashes = await ask(() => [...new Set([...document.querySelectorAll('a[href^="#"]')].map(one => one.getAttribute("href")))]);
  expect(hashes.length > 0, `${where} has no links`);
  for (const hash of hashes) {
    await ask(one => { location.hash = one; }, hash);
    await settle();
    const lands = await ask(() => !byId("view").hidden || Boolean(byId(decodeURIComponent(location.hash.slice(1)))?.getClientRects().length));
    expect(lands, `${where}: ${hash} lands nowhere`);
  }
}
await go();
await landings("the page");
const links = await ask(() => { location.hash = "#Softmax"; return [...document.querySelectorAll("a")].length; });
expect(links > 0, "no links");

/* An operator: its parts, its cases, its charts. */
await go("#Softmax");
const heads = await ask(() => [...document.querySelectorAll("#view h2")].map(one => one.textContent));
for (const head of ["Checks", "Times", "Nights", "Cases"]) expect(heads.includes(head), `Softmax has no part ${head}: ${heads}`);
const points = await ask(() => {
  const chart = document.querySelector("#view .chart").chart, line = data.lines.filter(one => one?.op === "Softmax")[byId("line").value];
  return { drawn: chart ? chart.data[1].filter(value => value !== null).length : -1, known: line.values.filter(value => value !== null).length, canvas: document.querySelector("#view canvas")?.width ?? 0 };
});
expect(points.known >= 50 && points.drawn === points.known && points.canvas > 0, `the chart of the nights has ${points.drawn} of ${points.known} points, ${points.canvas} pixels`);
const strips = await ask(() => [...document.querySelectorAll('#view svg[aria-label*="process run"]')].map(one => one.querySelectorAll("circle").length));
expect(strips.some(count => count >= 2), `no distribution of process runs: ${strips}`);
const cases = await ask(() => document.querySelectorAll("#cases ~ div tbody tr").length);
expect(cases > 0 && cases === await ask(() => Math.min(200, data.operators.Softmax.cases.length)), `${cases} cases`);
await tab.type('#view input[type="search"]', "nothing has this");
expect(await ask(() => document.querySelectorAll("#cases ~ div tbody tr").length) === 0, "the filter of cases does not filter");
await landings("a view");
const deep = await ask(() => { const row = data.operators.Softmax.cases[1]; return `#Softmax/${encodeURIComponent(row[0])}`; });
await go(deep);
expect(await ask(() => document.querySelectorAll("#cases ~ div tbody tr").length) >= 1, "a link to a case does not show it");
await ask(() => { const select = byId("line"); select.value = 1; select.dispatchEvent(new Event("change")); });
const named = await ask(() => [location.hash, data.lines.filter(one => one?.op === "Softmax")[1]]);
expect(named[0].includes(encodeURIComponent(named[1].metric)), "a chosen series is not in the address");
await go(named[0]);
expect(await ask(() => byId("line").value) === "1", "a link to a series does not choose it");

/* Without uPlot: small lines in its place. */
await ask(() => { uPlot = undefined; showOperator("Softmax"); });
await settle();
expect(await ask(() => document.querySelectorAll("#view .chart svg polyline").length) === 1, "without uPlot there is no line over the nights");

/* Series: filters, kept in the address. */
await go("?metric=executeWall");
const rowsOf = () => ask(() => [...document.querySelectorAll("#series tbody tr")].map(row => row.cells[2].textContent));
expect((await rowsOf()).length > 0 && (await rowsOf()).every(metric => metric === "executeWall"), "the filter of series does not filter");
await tab.select("#of-metric", "create");
expect((await rowsOf()).every(metric => metric === "create") && await ask(() => location.search) === "?metric=create", "a filter of series is not in the address");

/* What op-report demo planted is found from the top in at most three steps; a step is a link, a key, or a choice. */
const text = selector => ask(one => document.querySelector(one)?.innerText ?? "", selector);
async function follow(what) {  // a link with this text
  const found = await ask(part => { const link = [...document.querySelectorAll("a, summary")].find(one => one.getClientRects().length && one.innerText.includes(part)); link?.click(); return Boolean(link); }, what);
  expect(found, `no link with "${what}"`);
  await settle();
}
await go();
expect((await text("#finding-1")).includes("worse: 2 series of Softmax on vulkan") && (await text("#finding-1")).includes("the code"), "the slow kernel is not the first finding");
await follow("of Softmax on vulkan");
expect((await text("#view")).includes("worse 1.12 times"), "the view of Softmax does not say since when it is slow");
await go();
await follow("of LayerNormalization on cpu");
expect((await text("#view")).includes("suspect: the code") && /worse 8 times|worse 64 times/.test(await text("#view")), "the lost digit is not in the view of LayerNormalization");
await go();
expect((await text("#all")).includes("the environment: driver"), "the new driver is no suspect");
await follow("series on vulkan");
expect((await text("#view")).includes("the environment (driver)"), "the new driver is not in the view");
await go();
expect((await text("#all")).includes("1 flaky"), "the flake is not in the first line");
await follow("All 1");
expect((await text("#all")).includes("GridSample"), "the flake is not among the expected failures");
await go();
expect(/Resize[^]*?fail\s+pass/.test(await text("#all")), "the mended fault is not among the changes");
await follow("Nights");
expect((await text("#all")).includes("cut off"), "the killed night is not among the nights");
expect((await text("#all")).includes("1 case vanished") && (await text("#vanished ~ table")).includes("ConvTranspose"), "the vanished case is not named");
/* What got slower this week on Vulkan? Is a kernel better than last month's? */
await go();
await tab.select("#of-verdict", "worse");
await tab.select("#of-backend", "vulkan");
await tab.select("#of-nights", "7 nights");
const slower = await ask(() => [...document.querySelectorAll("#series tbody tr")].map(row => row.cells[0].textContent));
expect(slower.length > 0 && slower.every(one => one.startsWith("Softmax")), `slower this week on Vulkan: ${slower}`);
await go("#Softmax");
const month = await ask(() => [...document.querySelectorAll('#view tr[data-case]')].map(row => Number(row.cells[4].textContent)));
expect(month.some(ratio => ratio > 1.1) && month.some(ratio => ratio > .97 && ratio < 1.03), `against 30 nights ago: ${month}`);

/* Numbers of another program have findings, series and views too. */
await go("", pathToFileURL(numbers).href);
expect((await text("#finding-1")).includes("worse: 2 series of sort"), "no finding in numbers of another program");
expect(await ask(() => document.querySelectorAll("#series tbody tr").length) === 2, "not two series of another program");
await follow("sort/1");
expect((await text("#view")).includes("worse 1.1 times") && await ask(() => document.querySelector("#view .chart").chart.data[1].length) === 12, "no view of another program's series");
await clean("numbers of another program");

/* Nobody is left out: axe, both schemes, a phone. */
for (const scheme of ["light", "dark"]) {
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  for (const [width, size] of [[1400, "wide"], [390, "phone"]]) {
    await tab.setViewport({ width, height: 900 });
    for (const [hash, what, of] of [["", "top", address], ["#failures", "failure", failure], ["#Softmax", "operator", address]]) {
      await go(hash, of);
      await picture(`${what}-${size}-${scheme}`);
      if (width === 1400 || scheme === "light") await clean(`${what}, ${size}, ${scheme}`);
      await ask(() => { for (const one of document.querySelectorAll("details")) one.open = true; });
      const over = await ask(() => document.documentElement.scrollWidth - innerWidth);
      expect(over <= 0, `${what}, ${size}: ${over} pixels too wide`);
    }
  }
}
/* The pictures of README.md. */
await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
await tab.setViewport({ width: 1000, height: 560 });
await go();
await picture("readme-top");
await go("#Softmax");
await ask(() => document.querySelector("#view .chart").previousElementSibling.previousElementSibling.scrollIntoView());
await picture("readme-operator");
for (const one of new Set(said)) expect(false, `on the console: ${one}`);
await browser.close();
process.exit(faults ? 1 : 0);
