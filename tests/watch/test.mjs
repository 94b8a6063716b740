// Tests of the page in Chromium, with data that was made up: run.sh runs them.
// One browser, one page at a time.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { NAMES, check, flat, hidden, main, open, settle, text } from "./testkit.mjs";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const EXPECTED = {
  4: { verdict: /^Converged: worst relative error .* of 1e-6, 4 of 4 members, no mass missing/,
    rows: 4, sections: "NCWRABL" },
  24: { verdict: /^Finished: worst relative error .* below the target of 1e-6, 24 of 24 members/,
    rows: 24, sections: "NCWRABL" },
  200: { verdict: /^(Converged|Converging): .*200 of 200 members/, rows: 200,
    sections: "NCWRABL" },
  500: { verdict: /500 of 500 members/, rows: 500, sections: "NCWRABL" },
  seed: { verdict: /7 of 7 members, agent 6 left/, rows: 8, sections: "NCWRABL" },
  minimal: { verdict: /^Finished: squared gradient norm 1.\de-5\.$/, rows: 0, sections: "CR" },
  hostile: { verdict: /^(Converg|Stalled).*6 of 6 members/, rows: 6, sections: "NCWRABL" },
};
const SECTIONS = { N: "network", C: "curves", W: "waterfall", R: "ribbon", A: "agents", B: "books",
  L: "log" };

async function testEmbedded(browser, server, name) {
  const page = await open(browser, server.base + "/" + name);
  const expected = EXPECTED[name];
  const verdict = await text(page, "#verdict-text");
  check(name + ": verdict", expected.verdict.test(verdict), verdict);
  const rows = await page.locator("tbody tr").count();
  check(name + ": rows", rows === expected.rows, rows);
  const notes = await hidden(page, "#notes");
  check(name + ": notes only if malformed", notes === (name !== "hostile"));
  for (const [letter, id] of Object.entries(SECTIONS)) {
    const shown = !(await hidden(page, "#" + id));
    check(name + ": section " + id, shown === expected.sections.includes(letter));
  }
  const before = await text(page, "#now");
  await page.locator("#scrubber").evaluate(node => {
    node.value = Number(node.max) * 0.4;
    node.dispatchEvent(new Event("input"));
  });
  await settle(page);
  const after = await text(page, "#now");
  check(name + ": scrubber goes back", before !== after && /round/.test(after), after);
  if (expected.rows) await testPanel(page, name);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  check(name + ": page does not overflow", wide);
  check(name + ": no errors", page.errors.length === 0, page.errors);
  await page.context().close();
}

async function testPanel(page, name) {
  const button = page.locator("tbody tr").nth(2).locator("th button");
  await button.click();
  await settle(page);
  check(name + ": panel opens", await page.locator("#day").isVisible());
  check(name + ": panel has its title", await text(page, "#day-title") === "Agent 2");
  const box = await page.locator("#day").evaluate(node => node.scrollWidth <= node.clientWidth);
  check(name + ": panel does not overflow", box);
  await page.keyboard.press("Escape");
  await settle(page);
  check(name + ": Escape closes", await hidden(page, "#day"));
  check(name + ": focus returns", await button.evaluate(node => node === document.activeElement));
}

async function testKeyboard(browser, server) {
  const page = await open(browser, server.base + "/24");
  const now = () => text(page, "#now");
  const last = await now();
  await page.locator("body").press("ArrowLeft");
  await settle(page);
  const one = await now();
  check("keyboard: left", one !== last, one);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  check("keyboard: right", await now() === last);
  await page.keyboard.press("Home");
  await settle(page);
  check("keyboard: home", (await now()).startsWith("0.0 s"), await now());
  await page.keyboard.press("Shift+ArrowRight");
  await settle(page);
  check("keyboard: next event", /killed|0\.\d s ago/.test(await text(page, "#last")));
  await page.keyboard.press("Space");
  check("keyboard: plays", await page.locator("#play[aria-label=Pause]").count() === 1 ||
    await page.waitForSelector("#play[aria-label=Pause]", { timeout: 2000 }));
  const playing = await now();
  await page.waitForTimeout(1600);
  check("keyboard: time passes", await now() !== playing);
  await page.keyboard.press("Space");
  await page.keyboard.press("End");
  await settle(page);
  check("keyboard: end", await now() === last);
  await page.locator("#graph .node").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await settle(page);
  check("keyboard: graph opens agent 2", await text(page, "#day-title") === "Agent 2");
  await page.keyboard.press("Escape");
  const focused = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  check("keyboard: focus returns to the node", flat(focused).startsWith("Agent 2"), focused);
  await page.locator("#scrubber").focus();
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  check("keyboard: scrubber steps a frame", await now() === one, [await now(), one]);
  await page.locator("thead button", { hasText: "Relative error" }).click();
  await settle(page);
  const order = await page.locator("tbody tr td:nth-child(6)").allTextContents();
  const numbers = order.map(Number);
  check("table: sorts", numbers.every((x, i) => !i || numbers[i - 1] >= x), numbers);
  check("keyboard: no errors", page.errors.length === 0, page.errors);
  await page.context().close();
}

async function testVerdicts(browser, server) {
  const at = async (name, t, pattern) => {
    const page = await open(browser, server.base + "/" + name + "#t=" + t);
    const verdict = await text(page, "#verdict-text");
    check("verdict " + name + " at " + t, pattern.test(verdict), verdict);
    await page.context().close();
  };
  await at("24", 35.5, /^Not all seen: the watcher cannot reach agents 3 and 9/);
  await at("24", 65, /^Partitioned: agents 0–11 and 12–23 have not heard each other for [\d.]+ s/);
  await at("24", 71, /^Recovering: agent \d+ has been down for [\d.]+ s, 23 of 24 members/);
  await at("4", 23, /^Recovering: agent 2 \(mayo\) has been (down|silent) for/);
  await at("200", 38, /^Partitioned: agents 0–99 and 100–199 .* mass parked on \d+ edges/);
  await at("seed", 700, /^Partitioned: agents 0–2 and 3–7 have not heard each other for \d+ ticks/);
}

async function testSeed(browser, server) {
  const page = await open(browser, server.base + "/seed#t=1260");
  const labels = await page.locator("#lane-labels").textContent();
  check("seed: unknown kinds in the ribbon", /disk_full: agent 3, path \/state/.test(labels),
    labels);
  check("seed: faults in the ribbon", /delay 40 ticks/.test(labels), labels);
  const lanes = await page.locator("#lane-names").textContent();
  check("seed: lanes", /suspicions.*partitions.*faults.*other/.test(lanes), lanes);
  await page.locator("tbody tr").nth(3).click();
  await settle(page);
  const life = flat(await page.locator(".life").textContent());
  check("seed: unknown kind in the panel", /disk_full: agent 3, path \/state, free 0/.test(life),
    life);
  check("seed: ticks", /tick 1,100/.test(life) && /ticks/.test(await text(page, "#axis")));
  const about = await text(page, "#about");
  check("seed: source", /fault simulation/.test(about), about);
  await page.context().close();
}

async function testMinimal(browser, server) {
  const page = await open(browser, server.base + "/minimal");
  const figures = await page.locator("#figures dt").allTextContents();
  check("minimal: figures", figures.join() === "Round,Squared gradient norm,Sent", figures);
  check("minimal: three small charts", await page.locator(".chart.small").count() === 3);
  const axis = await page.locator("#axis label").allTextContents();
  check("minimal: rounds and bytes", axis.join() === "rounds,bytes", axis);
  await page.context().close();
}

async function testHostile(browser, server) {
  const page = await open(browser, server.base + "/hostile");
  const cells = await page.locator("tbody td.left").allTextContents();
  check("hostile: name is text", cells.includes("<img src=x onerror=alert(1)>"), cells);
  check("hostile: no element from data", await page.locator("main img, main script").count() === 0);
  const notes = await text(page, "#notes");
  check("hostile: malformed data is noted", /Malformed data was left out 1\d times/.test(notes),
    notes);
  const log = await page.locator("#log-list").textContent();
  check("hostile: kind is text", log.includes("<svg onload=alert(3)>"), log);
  await page.context().close();
}

async function testAccess(browser, server) {
  const source = readFileSync(axePath, "utf8");
  const cases = [["24", "light", 1440, ""], ["24", "dark", 1440, "#t=71&agent=4"],
    ["200", "light", 1440, "#t=38"], ["200", "dark", 360, ""], ["24", "light", 360, "#t=71"],
    ["seed", "dark", 1440, "#t=700"], ["minimal", "light", 1440, ""], ["4", "light", 360,
      "#agent=2"], ["4", "dark", 1440, "#t=23"]];
  for (const [name, scheme, width, hash] of cases) {
    const page = await open(browser, server.base + "/" + name + hash, { colorScheme: scheme,
      viewport: { width, height: 900 } });
    await page.evaluate(source);
    const found = await page.evaluate(() => window.axe.run(document,
      { resultTypes: ["violations"] }));
    const bad = found.violations.map(v => v.impact + " " + v.id + " " +
      v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.failureSummary.slice(0, 160)));
    const label = ["axe", name, scheme, width, hash].join(" ");
    check(label, !bad.some(v => /^(serious|critical)/.test(v)), bad);
    if (bad.length && !bad.some(v => /^(serious|critical)/.test(v))) console.log(label, bad);
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    check(label + ": no horizontal overflow", fits);
    await page.context().close();
  }
}

async function testLive(browser, server) {
  const data = JSON.parse(readFileSync("out/24.json", "utf8"));
  let sent = 100;
  server.backlog = () => [["hello", data.hello],
    ...data.frames.slice(0, sent).map(frame => ["frame", frame]),
    ...data.events.filter(e => e.t <= data.frames[sent - 1].t).map(e => ["event", e])];
  const page = await open(browser, server.base + "/live?token=abc");
  await page.waitForTimeout(900);
  check("live: query is passed on", server.asked === "/stream?token=abc", server.asked);
  check("live: backlog", /live$/.test(await text(page, "#now")), await text(page, "#now"));
  const before = await text(page, "#now");
  for (; sent < 110; sent += 1) server.send("frame", data.frames[sent]);
  server.send("frame", "{broken");
  server.send("event", { t: data.frames[109].t, k: 1, kind: "odd", agent: 1 });
  await page.waitForTimeout(1100);
  check("live: follows", await text(page, "#now") !== before);
  check("live: broken JSON is noted", /not JSON/.test(await text(page, "#notes")));
  await page.locator("#log-list").scrollIntoViewIfNeeded();
  await settle(page);
  const log = await page.locator("#log-list").textContent();
  check("live: event arrives", /odd: agent 1/.test(log), log.slice(0, 200));
  await page.locator("body").press("ArrowLeft");
  await settle(page);
  const past = await text(page, "#now");
  server.send("frame", data.frames[sent]);
  sent += 1;
  await page.waitForTimeout(800);
  check("live: the past stays", await text(page, "#now") === past && !/live/.test(past), past);
  await page.locator("body").press("End");
  await settle(page);
  check("live: follows again", /live$/.test(await text(page, "#now")));
  await page.locator("tbody tr").nth(4).click();
  server.refuse = true;
  server.cut();
  await page.waitForTimeout(2600);
  const banner = await text(page, "#link");
  check("live: loss is said", /No connection to the watcher since \d+ s/.test(banner) &&
    !(await hidden(page, "#link")), banner);
  await page.waitForTimeout(3600);
  const verdict = await text(page, "#verdict-text");
  check("live: no data is said", /^No data for \d+ s/.test(verdict), verdict);
  server.refuse = false;
  sent = 140;
  await page.waitForTimeout(4200);
  check("live: comes back", await hidden(page, "#link"), await text(page, "#link"));
  check("live: newest after return", (await text(page, "#now")).includes(
    data.frames[139].k.toLocaleString("en-GB")), await text(page, "#now"));
  check("live: selection is kept", await text(page, "#day-title") === "Agent 4");
  const errors = page.errors.filter(e => !/ERR_|503|Failed to load/.test(e));
  check("live: no errors", errors.length === 0, errors);
  server.send("hello", { ...data.hello, agents: 4, edges: [], names: null });
  server.send("frame", { t: 0, k: 0, s: "uuuu" });
  await page.waitForTimeout(1200);
  check("live: a new hello starts anew", await page.locator("tbody tr").count() === 4);
  server.send("frame", { t: 1, k: 1, m: 0, mx: 7 });
  await page.waitForTimeout(800);
  const broken = await text(page, "#verdict-text");
  check("live: residual", /^Mass is not conserved: the residual is 7 × 2⁻⁴⁰/.test(broken), broken);
  await page.context().close();
}

async function testMemory(browser, server) {
  const data = JSON.parse(readFileSync("out/4.json", "utf8"));
  const frame = data.frames[60];
  server.backlog = () => [["hello", data.hello]];
  const page = await open(browser, server.base + "/live");
  for (let i = 0; i < 40000; i += 1) {
    server.send("frame", { ...frame, t: i / 2, k: i * 15, w: undefined });
    if (i % 2000 === 0) await page.waitForTimeout(30);
  }
  await page.waitForFunction(() => watch.run && watch.run.sequence === 40000, null,
    { timeout: 30000 });
  await page.waitForTimeout(1200);
  const shown = flat(await text(page, "#now"));
  check("memory: newest is shown", /599,985/.test(shown), shown);
  const kept = await page.evaluate(() => watch.run.frames.length);
  check("memory: old frames are thinned", kept < 4001 && kept > 1000, kept);
  await page.context().close();
}

/** Replaces a random part of a value by something of another type or size. */
function mutate(value, random) {
  const odd = [null, -1, 1e300, 0.5, "x", "", [], {}, [null], [1e9], true, "<b>", { i: [-1] }];
  const any = list => list[Math.floor(random() * list.length)];
  if (value === null || typeof value !== "object" || random() < 0.2) return any(odd);
  const copy = Array.isArray(value) ? value.slice() : { ...value };
  const keys = Object.keys(copy);
  if (!keys.length) return any(odd);
  const key = any(keys);
  copy[key] = mutate(copy[key], random);
  return copy;
}

async function testFuzz(browser, server) {
  let state = 12345;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  for (const name of ["seed", "24", "minimal"]) {
    const data = JSON.parse(readFileSync("out/" + name + ".json", "utf8"));
    const bad = part => data[part].map(value => (random() < 0.5 ? mutate(value, random) : value));
    server.backlog = () => [["hello", data.hello]];
    const page = await open(browser, server.base + "/live");
    for (let round = 0; round < 6; round += 1) {
      server.send("hello", round % 2 ? mutate(data.hello, random) : data.hello);
      for (const frame of bad("frames")) server.send("frame", frame);
      for (const event of bad("events")) server.send("event", event);
      await page.waitForTimeout(700);
      await page.evaluate(() => watch.run && watch.run.frames.length &&
        watch.openDay(watch.run.n - 1, null));
      await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
      await settle(page);
      const drawn = /could not be drawn/.test(await text(page, "#notes"));
      check("fuzz " + name + ": all is drawn", !drawn, await text(page, "#notes"));
    }
    check("fuzz " + name + ": no errors", page.errors.length === 0, page.errors);
    await page.context().close();
  }
}

async function testSpeed(browser, server) {
  for (const name of ["24", "200", "500"]) {
    const page = await open(browser, server.base + "/" + name);
    const costs = await page.evaluate(async () => {
      const found = [];
      for (let i = 0; i < 20; i += 1) {
        watch.seek(30 + i);
        await new Promise(done => setTimeout(done, 60));
        found.push(watch.cost);
      }
      return found.sort((a, b) => a - b);
    });
    const median = costs[10];
    console.log("script of one frame,", name, "agents: median", median.toFixed(1), "ms");
    check("speed " + name, median < 60, costs);
    await page.context().close();
  }
}

await main(async (browser, server) => {
  for (const name of NAMES) await testEmbedded(browser, server, name);
  await testKeyboard(browser, server);
  await testVerdicts(browser, server);
  await testSeed(browser, server);
  await testMinimal(browser, server);
  await testHostile(browser, server);
  await testAccess(browser, server);
  await testLive(browser, server);
  await testMemory(browser, server);
  await testFuzz(browser, server);
  await testSpeed(browser, server);
});
