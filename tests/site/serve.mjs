// A web server for the files of the built site.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript",
  ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".json": "application/json" };

/** Serves a folder on a free port of this machine: the server, and the address of the site. */
export function serve(site) {
  const server = createServer((request, response) => {
    const path = join(site, decodeURIComponent(new URL(request.url, "http://x").pathname));
    try {
      const body = readFileSync(path);
      response.writeHead(200, { "cache-control": "max-age=3600",
        "content-type": TYPES[extname(path)] || "text/plain; charset=utf-8" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise(resolve => server.listen(0, "127.0.0.1",
    () => resolve({ server, base: `http://127.0.0.1:${server.address().port}` })));
}
