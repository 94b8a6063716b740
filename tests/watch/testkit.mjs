// Helpers of the tests: a server with the policy and a stream, a browser, and checks.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

export const NAMES = ["4", "24", "200", "500", "seed", "minimal", "hostile"];
const DATA = '<script type="application/json" id="data">';
const counts = { passed: 0, failed: 0 };

export function check(name, holds, detail) {
  if (holds) counts.passed += 1;
  else {
    counts.failed += 1;
    console.log("FAIL", name, detail === undefined ? "" : JSON.stringify(detail));
  }
}

export const flat = text => (text || "").replace(/\u00a0/g, " ");

/** Serves the assembled pages with the policy as a header, and a stream that can be cut. */
export class Server {
  constructor() {
    this.pages = new Map();
    this.clients = new Set();
    this.refuse = false;
    this.backlog = () => [];
    this.http = createServer((request, response) => this.answer(request, response));
  }

  /** Adds the page as the program exports it, with other data, or without any as it is served. */
  add(name, data) {
    const [head, rest] = readFileSync("out/exported.html", "utf8").split(DATA);
    const tail = rest.slice(rest.indexOf("</script>") + "</script>".length);
    const text = data && DATA + readFileSync(data, "utf8").replaceAll("<", "\\u003c") + "</script>";
    // Only a page without data may ask its server.
    const policy = text ? "$&" : "$&; connect-src 'self'";
    this.pages.set("/" + name, head.replace("form-action 'none'", policy) + (text || "") + tail);
  }

  answer(request, response) {
    const { pathname } = new URL(request.url, "http://x");
    if (pathname === "/stream") {
      this.asked = request.url;
      if (this.refuse) {
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("retry: 300\n\n");
      for (const [name, value] of this.backlog()) this.write(response, name, value);
      this.clients.add(response);
      response.on("close", () => this.clients.delete(response));
      return;
    }
    const html = this.pages.get(pathname);
    if (!html) {
      response.writeHead(404).end();
      return;
    }
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
    response.writeHead(200, { "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy });
    response.end(html);
  }

  write(response, name, value) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    response.write("event: " + name + "\ndata: " + text + "\n\n");
  }

  send(name, value) {
    for (const client of this.clients) this.write(client, name, value);
  }

  cut() {
    for (const client of this.clients) client.destroy();
  }

  listen() {
    return new Promise(done => this.http.listen(0, "127.0.0.1", () => {
      this.base = "http://127.0.0.1:" + this.http.address().port;
      done();
    }));
  }
}

/** Opens a page and collects errors and violations of the policy. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on("console", m => m.type() === "error" && page.errors.push(m.text()));
  page.on("pageerror", error => page.errors.push(String(error.stack)));
  page.on("dialog", dialog => {
    page.errors.push("dialog " + dialog.message());
    dialog.dismiss();
  });
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation",
    e => console.error("policy violated: " + e.violatedDirective + " " + e.blockedURI)));
  await page.goto(url);
  await page.waitForTimeout(400);
  return page;
}

export const text = async (page, selector) => flat(await page.locator(selector).textContent());
export const hidden = (page, selector) => page.locator(selector).evaluate(node => node.hidden);
export const settle = page => page.waitForTimeout(160);

/** Runs `body` with a server of all pages and a browser, and says how many checks held. */
export async function main(body) {
  const server = new Server();
  for (const name of NAMES) server.add(name, "out/" + name + ".json");
  server.add("live");
  await server.listen();
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"] });
  try {
    await body(browser, server);
  } finally {
    await browser.close();
    server.cut();
    server.http.close();
  }
  done();
}

/** Says how many checks held, and ends in failure if one did not. */
export function done() {
  console.log(counts.passed + " checks passed, " + counts.failed + " failed");
  process.exitCode = counts.failed ? 1 : 0;
}
