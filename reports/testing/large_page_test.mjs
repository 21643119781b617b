// Opens a large page five times: node large_page_test.mjs TOOLS PAGE. Prints the medians of the page's own clock.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [tools, page] = process.argv.slice(2).map(part => path.resolve(part));
const puppeteer = createRequire(path.join(tools, "package.json"))("puppeteer-core");
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const ready = [], filtered = [], operators = [];
let series = 0;
for (let i = 0; i < 5; ++i) {
  const tab = await browser.newPage();
  await tab.goto(pathToFileURL(page).href);
  await tab.waitForSelector("html[data-ready]", { timeout: 60000 });
  ready.push(await tab.evaluate(() => Number(document.documentElement.dataset.ready)));
  // Until the browser has laid out what the filter left.
  filtered.push(await tab.evaluate(text => { const begin = performance.now(); search.value = text; search.dispatchEvent(new Event("input")); document.body.getBoundingClientRect(); return performance.now() - begin; }, ["soft", "a", "conv", "7", "norm"][i]));
  operators.push(await tab.evaluate(() => { const begin = performance.now(); location.hash = ""; showOperator(Object.keys(data.operators)[0]); document.body.getBoundingClientRect(); return performance.now() - begin; }));
  series = await tab.evaluate(() => data.lines.filter(Boolean).length);
  await tab.close();
}
const median = list => Math.round([...list].sort((a, b) => a - b)[2]);
console.log(`${series} series: open ${median(ready)} ms, filter ${median(filtered)} ms, an operator ${median(operators)} ms; medians of five`);
await browser.close();
process.exit(series > 0 ? 0 : 1);
