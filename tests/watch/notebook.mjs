// The page as a notebook shows it: in a frame of a page with another policy.
//   node notebook.mjs FOLDER     holds frame.html, and planted.html with a script and a picture more
// Run by python/tests/test_watch.py, which writes both files.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";
import { check, done, open } from "./testkit.mjs";

const folder = process.argv[2];
const asked = [];

/** Serves notebooks with the policy that Jupyter sends, and notes what is asked for. */
const server = createServer((request, response) => {
  asked.push(request.url);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8",
    "content-security-policy": "frame-ancestors 'self'" });
  response.end("<!doctype html><title>Notebook</title>" +
    (request.url.endsWith(".html") ? readFileSync(folder + request.url, "utf8") : ""));
});

/** Opens a notebook; returns its page and the frame within. */
async function show(browser, name) {
  const page = await open(browser, `http://127.0.0.1:${server.address().port}/${name}`);
  const frame = page.frames().find(one => one !== page.mainFrame());
  await frame.waitForFunction(() => !document.getElementById("content").hidden);
  return { page, frame };
}

async function testFrame(browser) {
  const { page, frame } = await show(browser, "frame.html");
  const verdict = await frame.locator("#verdict-text").textContent();
  check("the page works", verdict && verdict !== "Waiting for data.", verdict);
  check("nothing is refused to it", page.errors.length === 0, page.errors);
  const denied = await frame.evaluate(() => {
    try {
      return parent.document.title;
    } catch (error) {
      return error.name;
    }
  });
  check("the notebook is out of its reach", denied === "SecurityError", denied);
  const server = new URL(page.url()).origin;
  const answer = await frame.evaluate(address => fetch(address).then(() => "answered", () => "refused"),
    server + "/secret");
  check("so is the server of the notebook", answer === "refused" && !asked.includes("/secret"), asked);
}

async function testPlanted(browser) {
  const { page, frame } = await show(browser, "planted.html");
  const ran = await frame.evaluate(() => window.planted);
  check("a script of somebody else does not run", ran === undefined, ran);
  for (const directive of ["script-src", "img-src"])
    check(directive + " is held", page.errors.some(text => text.includes(directive)), page.errors);
}

await new Promise(ready => server.listen(0, "127.0.0.1", ready));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await testFrame(browser);
  await testPlanted(browser);
} finally {
  await browser.close();
  server.close();
}
done();
