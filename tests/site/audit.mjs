// Audits pages of the built site with Lighthouse: accessibility, best practices and every request.
//   node audit.mjs SITE
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { createServer } from "node:net";
import { serve } from "./serve.mjs";

const [site] = process.argv.slice(2);
// One page of each form.
const PAGES = ["index.html", "methods/fab.html", "tutorials/clinics.html", "gallery.html",
  "reference.html"];
const CATEGORIES = ["accessibility", "best-practices"];
const LEAST = 95;
const faults = [];

/** A port that nobody listens on. */
function freePort() {
  const probe = createServer();
  return new Promise(resolve => probe.listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  }));
}

/** The audits of a category that a page does not pass, worst first. */
function notPassed({ categories, audits }, category) {
  const counted = categories[category].auditRefs.filter(({ weight }) => weight > 0);
  const failed = counted.filter(({ id }) => audits[id].score !== null && audits[id].score < 1);
  return failed.sort((a, b) => b.weight - a.weight).map(({ id }) => id);
}

/** Audits one page, and prints its scores. */
async function audit(base, name, port) {
  const { lhr } = await lighthouse(`${base}/${name}`, { port, onlyCategories: CATEGORIES,
    onlyAudits: ["network-requests"],
    throttlingMethod: "provided", disableFullPageScreenshot: true, logLevel: "error",
    // Nothing is timed: only the network has to be quiet.
    pauseAfterFcpMs: 0, pauseAfterLoadMs: 0, cpuQuietThresholdMs: 0 });
  if (lhr.runtimeError) faults.push(`${name}: ${lhr.runtimeError.message}`);
  const requests = lhr.audits["network-requests"].details?.items ?? [];
  const local = ({ url }) => url.startsWith(`${base}/`) || url.startsWith("data:");
  if (!requests.length) faults.push(`${name}: no request was seen, not even its own`);
  for (const { url } of requests.filter(request => !local(request))) {
    faults.push(`${name}: asks for ${url}`);
  }
  const scores = CATEGORIES.map(category => {
    const score = Math.round(100 * lhr.categories[category].score);
    const failed = notPassed(lhr, category);
    if (!(score >= LEAST)) {
      faults.push(`${name}: ${category} ${score}, at least ${LEAST}: ${failed.join(", ")}`);
    }
    return `${category} ${score}${failed.length ? ` (not ${failed.join(", ")})` : ""}`;
  });
  console.log(`${name}: ${scores.join(", ")}, ${requests.length} requests`);
}

const { server, base } = await serve(site);
const port = await freePort();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", `--remote-debugging-port=${port}`] });
for (const name of PAGES) await audit(base, name, port);
await browser.close();
server.close();
for (const fault of faults) console.log(fault);
console.log(`${PAGES.length} pages audited: ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
