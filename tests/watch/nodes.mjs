// Real nodes in the page: `fabnet launch --watch` with kills, and `fabnet watch ADDRESS`. Every
// number that is compared comes from the nodes' own status.
import { spawn, execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { check, flat, main, open, text } from "./testkit.mjs";

const fabnet = process.argv[2];
const AGENTS = 6;
const FOLDER = "out/launched";

const EXPERIMENT = `
agents = ${AGENTS}
rounds = 2400
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "one-peer-exponential"
[network]
pace = "free"
tick = 0.03
[[algorithm]]
kind = "dfab"
steps = { x = 0.007, u = 0.05, z = 0.05 }
[record]
every = 20
metrics = ["worst_error"]
`;

const delay = ms => new Promise(done => setTimeout(done, ms));

/** Starts a program and returns it, the address that it prints, and a promise of its end. */
function start(...parameters) {
  const child = spawn(fabnet, parameters);
  const ended = new Promise(done => child.on("exit", done));
  const address = new Promise((found, failed) => {
    let said = "";
    child.stderr.on("data", data => {
      said += data;
      const match = /https?:\S*\n/.exec(said);
      if (match) found(match[0].trim());
    });
    ended.then(code => failed(new Error("ended with " + code + ": " + said)));
  });
  address.catch(() => {});
  return { child, address, ended };
}

/** The processes of nodes, by the names of their nodes. */
function processes(parent) {
  const found = new Map();
  for (const id of readdirSync("/proc").filter(name => /^\d+$/.test(name))) {
    try {
      const line = readFileSync("/proc/" + id + "/cmdline", "utf8").split("\0");
      const stat = readFileSync("/proc/" + id + "/stat", "utf8").split(") ")[1].split(" ");
      if (line[1] === "node" && Number(stat[1]) === parent && stat[0] !== "Z") {
        found.set(/nodes\/([^/]*)\//.exec(line[2])[1], Number(id));
      }
    } catch { /* It has ended in the meantime. */ }
  }
  return found;
}

const states = page => page.evaluate(() => {
  const frame = watch.run && watch.run.frames.at(-1);
  return frame ? [...frame.s].map((s, a) => (frame.v && frame.v[a] === "n" ? "?" : s)).join("") : "";
});

/** The time of the newest frame. */
const newest = page => page.evaluate(() => watch.run.frames.at(-1).t);

/** Whether a frame after a time shows an agent as down, silent or out of reach. */
const isShownAway = (page, agent, after) => page.evaluate(([a, t]) => watch.run.frames.some(
  frame => frame.t > t && (!"uj".includes(frame.s[a]) || frame.v[a] === "n")), [agent, after]);

/** Waits until a kill is seen in the list of processes, then until each page shows it. */
async function followKill(parent, pages) {
  const before = processes(parent);
  const times = await Promise.all(pages.map(newest));
  let gone;
  for (let i = 0; i < 600 && gone === undefined; i += 1) {
    const now = processes(parent);
    gone = [...before.keys()].find(name => now.get(name) !== before.get(name));
    await delay(25);
  }
  check("kill: there is one", gone !== undefined);
  const begun = Date.now();
  const agent = Number(gone.slice("node-".length));
  const shown = pages.map(async (page, i) => {
    while (Date.now() - begun < 5000) {
      if (await isShownAway(page, agent, times[i])) return Date.now() - begun;
      await delay(20);
    }
    return Infinity;
  });
  return { agent, lags: await Promise.all(shown) };
}

async function testKills(browser) {
  rmSync(FOLDER, { recursive: true, force: true });
  writeFileSync("out/launched.toml", EXPERIMENT);
  const launch = start("launch", "out/launched.toml", "--out", FOLDER, "--watch", "--loss", "0.1",
    "--kill-every", "5s");
  const page = await open(browser, await launch.address);
  await page.waitForFunction(() => watch.run && watch.run.frames.length > 3, null,
    { timeout: 60000 });
  const http = /http = "([^"]*)"/.exec(readFileSync(FOLDER + "/nodes/node-2/node.toml", "utf8"))[1];
  const watching = start("watch", http);
  const other = await open(browser, await watching.address);
  await other.waitForFunction(() => watch.run && watch.run.frames.length > 1, null,
    { timeout: 20000 });
  check("one address: all are found", (await states(other)).length === AGENTS, await states(other));
  await testListen(http);
  const verdicts = [];
  await page.exposeFunction("noteVerdict", text => verdicts.push(flat(text)));
  await page.evaluate(() => new MutationObserver(() => window.noteVerdict(
    document.querySelector("#verdict-text").textContent)).observe(
    document.querySelector("#verdict-text"), { childList: true, characterData: true,
      subtree: true }));
  for (let kill = 0; kill < 2; kill += 1) {
    verdicts.length = 0;
    const { agent, lags } = await followKill(launch.child.pid, [page, other]);
    console.log("agent " + agent + " was killed; shown after " + lags.join(" and ") + " ms");
    check("kill: shown within two seconds", lags.every(lag => lag < 2000), lags);
    await page.waitForFunction(() => /^u+$/.test(watch.run.frames.at(-1).s), null,
      { timeout: 20000 });
    await delay(1200);
    const after = await text(page, "#verdict-text");
    check("kill: a verdict names it", verdicts.some(text => /down/.test(text)
      && text.includes("agent " + agent)), verdicts.slice(-5));
    check("kill: the verdict recovers", !/down|silent/.test(after), after);
  }
  check("scrubber: it goes back", await goesBack(page));
  check("launch: code of the end", (await launch.ended) === 0);
  watching.child.kill("SIGINT");
  for (const shown of [page, other]) {
    const errors = shown.errors.filter(error => !error.includes("ERR_"));
    check("nodes: no errors but the end of the stream", errors.length === 0, errors);
    await shown.context().close();
  }
}

/** The page for other machines: over TLS with a node's certificate, and only with its token. */
async function testListen(http) {
  const watching = start("watch", http, "--listen", "127.0.0.1:0", "--certificate-of",
    FOLDER + "/nodes/node-2/node.toml");
  const address = await watching.address;
  const status = (url, ca) => new Promise(done => get(url, { ca }, answer => {
    answer.destroy();
    done(answer.statusCode);
  }).on("error", error => done(error.code)));
  const authority = readFileSync(FOLDER + "/pki/ca.pem");
  check("listen: TLS and token", (await status(address, authority)) === 200, address);
  check("listen: a wrong token", (await status(address + "0", authority)) === 403);
  const bare = address.replace(/\?.*/, "");
  check("listen: no token", (await status(bare, authority)) === 403);
  check("listen: no stream without it", (await status(bare + "stream", authority)) === 403);
  check("listen: others are not trusted", typeof (await status(address)) === "string");
  watching.child.kill("SIGINT");
  await watching.ended;
}

/** Whether Home shows the first frame, and End the newest. */
async function goesBack(page) {
  const round = () => page.evaluate(() => watch.shownFrame().k);
  await page.locator("body").press("Home");
  await delay(200);
  const first = await round();
  await page.locator("body").press("End");
  await delay(200);
  return first < (await round());
}

/** The last frame of the export against the last status of each node, number by number. */
async function testTruth(browser) {
  execFileSync(fabnet, ["watch", FOLDER, "--export", "out/launched.html"]);
  const page = await open(browser, "file://" + process.cwd() + "/out/launched.html");
  const frame = await page.evaluate(() => {
    const { k, r, s, e, d, a, c, b, p, ep, li, rf, h, m, mx } = watch.run.frames.at(-1);
    const known = x => (Number.isNaN(x) ? null : x);
    const list = x => (x === undefined ? x : typeof x === "object" ? [...x].map(known) : x);
    return { k, s: [...s].join(""), b, p, m, mx, r: list(r), e: list(e), d: list(d), a: list(a),
      c: list(c), ep: list(ep), li: list(li), rf: list(rf), h: list(h) };
  });
  const of = (x, agent) => (Array.isArray(x) ? x[agent] : x);
  // Zero has no logarithm, and is not shown.
  const log = value => (value === 0 ? null : Math.round(100 * Math.log10(value)));
  let bytes = 0;
  let largest = 0;
  for (let node = 0; node < AGENTS; node += 1) {
    const file = FOLDER + "/nodes/node-" + node + "/status.json";
    const status = JSON.parse(readFileSync(file, "utf8"));
    const agent = status.agents[0];
    const pairs = {
      round: [frame.k - of(frame.r, node), agent.round],
      epoch: [of(frame.ep, node), agent.epoch],
      life: [of(frame.li, node), agent.incarnation],
      age: [of(frame.a, node), agent.pull_age],
      error: [of(frame.e, node), log(agent.metric)],
      disagreement: [of(frame.d, node), log(agent.disagreement)],
      "checkpoint age": [of(frame.c, node), Math.floor(10 * agent.checkpoint_age)],
      refusals: [of(frame.rf, node), agent.messages.malformed + agent.messages.refused],
      "step size": [Math.fround(of(frame.h, node)), Math.fround(agent.step_size)],
      parked: [frame.p.filter(([edge]) => edge === node).length, 0],
    };
    for (const [name, [shown, said]] of Object.entries(pairs)) {
      check("truth: " + name + " of node " + node, shown === said, [shown, said]);
    }
    bytes += agent.bytes;
    largest = Math.max(largest, agent.max_mass_residual);
  }
  check("truth: bytes", frame.b === bytes, [frame.b, bytes]);
  check("truth: residuals", frame.mx === largest && largest === 0, [frame.m, frame.mx, largest]);
  const kinds = await page.evaluate(() => watch.run.events.map(event => event.kind));
  const kills = JSON.parse(readFileSync(FOLDER + "/summary.json", "utf8")).runs[0].kills;
  check("truth: kills", kinds.filter(kind => kind === "kill").length === kills, [kinds, kills]);
  check("truth: joins", kinds.filter(kind => kind === "join").length >= kills, kinds);
  check("truth: verdict", (await text(page, "#verdict-text")).startsWith("Finished"));
  check("export: no errors", page.errors.length === 0, page.errors);
  await page.context().close();
}

await main(async browser => {
  await testKills(browser);
  await testTruth(browser);
});
