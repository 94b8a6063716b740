// Looks at every page of the built site in a real browser: accessibility by axe-core, requests to
// other hosts, messages of errors, pages that are wider than the screen; and tries the search.
//   node browser.mjs SITE [PICTURES]     also takes a picture of each page at both widths
import { chromium } from "playwright-core";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { serve } from "./serve.mjs";

const [site, pictures] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [1280, 390];
const TIMEOUT = 120000; // for machines that are busy
const AT_ONCE = 2;
const faults = [];

/** All pages; those under source/ are copies of files in one form, so one of them is enough. */
function pages(folder = site) {
  const found = readdirSync(folder).flatMap(name => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return pages(path);
    return name.endsWith(".html") ? [relative(site, path)] : [];
  });
  if (folder !== site) return found;
  const copies = found.filter(name => name.startsWith("source/"));
  const own = found.filter(name => !name.startsWith("source/") && !/^(toc|print)\.html$/.test(name));
  return [...own, ...copies.slice(0, 1)];
}

/**
 * A context for each width. Pages that follow each other in one load scripts, styles and fonts once;
 * pages side by side would wait for each other's.
 */
async function newContexts(browser) {
  const sized = width => browser.newContext({ viewport: { width, height: 900 } });
  return Object.fromEntries(await Promise.all(WIDTHS.map(async w => [w, await sized(w)])));
}

async function open(contexts, base, name, width) {
  const page = await contexts[width].newPage();
  page.on("request", request => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== base) faults.push(`${name}: asks for ${request.url()}`);
  });
  page.on("response", response => {
    if (response.status() >= 400) faults.push(`${name}: ${response.status()} ${response.url()}`);
  });
  page.on("console", message => {
    if (message.type() === "error") faults.push(`${name}: ${message.text()}`);
  });
  page.on("pageerror", error => faults.push(`${name}: ${error.message}`));
  await page.goto(`${base}/${name}`, { waitUntil: "load", timeout: TIMEOUT });
  return page;
}

/** Looks at one page: all of it at the first width; the second shows whether it fits. */
async function look(contexts, base, name) {
  for (const width of WIDTHS) {
    const page = await open(contexts, base, name, width);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) faults.push(`${name}: ${wide} pixels wider than a screen of ${width}`);
    if (width === WIDTHS[0]) {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document,
        { resultTypes: ["violations"] }));
      for (const { impact, id, nodes } of violations) {
        faults.push(`${name}: ${impact} ${id}: ${nodes.length} places, ${nodes[0].target.join(" ")}`);
      }
    }
    if (pictures) {
      const file = `${name.replaceAll("/", "-").replace(".html", "")}-${width}.png`;
      await page.screenshot({ path: join(pictures, file), fullPage: true });
    }
    await page.close();
  }
}

/** Uses the page by keys alone: the table of contents, then the search. */
async function use(contexts, base) {
  const page = await open(contexts, base, "index.html", WIDTHS[0]);
  const shown = () => page.evaluate(
    () => document.documentElement.classList.contains("sidebar-visible"));
  const before = await shown();
  await page.locator("#mdbook-sidebar-toggle").press("Enter");
  if (await shown() === before) faults.push("the table of contents cannot be toggled by keys");
  await page.keyboard.press("s");
  await page.locator("#mdbook-searchbar").pressSequentially("contact plan");
  const result = page.locator("#mdbook-searchresults a").first();
  await result.waitFor({ timeout: TIMEOUT }).catch(() => faults.push("search finds nothing"));
  await page.close();
}

const { server, base } = await serve(site);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox"] });
if (pictures) mkdirSync(pictures, { recursive: true });
const names = pages();
const waiting = [...names];
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  const contexts = await newContexts(browser);
  while (waiting.length) await look(contexts, base, waiting.shift());
}));
await use(await newContexts(browser), base);
await browser.close();
server.close();
for (const fault of faults) console.log(fault);
console.log(`${names.length} pages at widths of ${WIDTHS.join(" and ")}: ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
