// Real runs in the page: every number that is compared comes from the program's own results.
import { spawn, execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { check, main, open, text } from "./testkit.mjs";

const fabnet = process.argv[2];

const EXPERIMENT = `
agents = 10
rounds = 15000
seeds = 1
[problem]
kind = "policy-evaluation"
[faults]
loss = 0.2
[[algorithm]]
kind = "dfab"
steps = { x = 0.005, u = 0.05, z = 0.05 }
[record]
metrics = ["worst_error", "consensus"]
`;

/** Starts a run and returns the address of its page, and a promise of its end. */
function start(folder) {
  rmSync(folder, { recursive: true, force: true });
  writeFileSync("out/run.toml", EXPERIMENT);
  const process = spawn(fabnet, ["run", "out/run.toml", "--out", folder, "--watch"]);
  const ended = new Promise(done => process.on("exit", done));
  const address = new Promise(found => {
    let said = "";
    process.stderr.on("data", data => {
      said += data;
      const match = /http:\S*\n/.exec(said);
      if (match) found(match[0].trim());
    });
  });
  return { address, ended };
}

async function testLiveRun(browser) {
  const run = start("out/run");
  const page = await open(browser, await run.address);
  await page.waitForFunction(() => watch.run && watch.run.frames.length > 2, null,
    { timeout: 60000 });
  check("live: rows", (await page.locator("tbody tr").count()) === 10);
  check("live: code of the end", (await run.ended) === 0);
  const errors = page.errors.filter(error => !error.includes("ERR_"));
  check("live: no errors but the end of the stream", errors.length === 0, errors);
  await page.context().close();
}

async function testExport(browser) {
  execFileSync(fabnet, ["watch", "out/run", "--export", "out/run.html"]);
  const size = readFileSync("out/run.html").length;
  check("export: below 3 MB", size < 3e6, size);
  const page = await open(browser, "file://" + process.cwd() + "/out/run.html");
  const last = JSON.parse(readFileSync("out/run/summary.json", "utf8")).runs[0];
  const verdict = await text(page, "#verdict-text");
  check("export: finished", verdict.startsWith("Finished"), verdict);
  // Frames have hundredths of a decade, and the page writes two digits.
  const ratio = Number(/error (\S+),/.exec(verdict)[1]) / last.final.worst_error;
  check("export: the error of the summary", Math.abs(ratio - 1) < 0.04, [verdict, last.final]);
  const frame = await page.evaluate(() => watch.run.frames.at(-1));
  check("export: the last round", frame.k === last.rounds, frame.k);
  check("export: the bytes of the summary", frame.b === last.bytes_per_agent * 10, frame.b);
  check("export: no errors", page.errors.length === 0, page.errors);
  await page.context().close();
}

async function testSeed(browser) {
  const page = await open(browser, "file://" + process.cwd() + "/out/exported.html");
  const events = await page.evaluate(() => watch.run.events.map(event => event.kind));
  check("seed: faults and starts", events.includes("start") && events.includes("end"), events);
  check("seed: no mass missing", (await text(page, "#books")).includes("Residual now0"));
  check("seed: no errors", page.errors.length === 0, page.errors);
  await page.context().close();
}

await main(async browser => {
  await testLiveRun(browser);
  await testExport(browser);
  await testSeed(browser);
});
