// Pictures of the page for docs/watch.md, from real runs: 4 nodes live, 24 nodes with kills and
// loss, 200 simulated agents as a matrix, a seed in the middle of a partition, and a phone.
//   node pictures.mjs FABNET FOLDER
import { spawn, execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { check, main, open } from "./testkit.mjs";

const [fabnet, folder] = process.argv.slice(2);

const experiment = (agents, rounds, more) => `
agents = ${agents}
rounds = ${rounds}
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "one-peer-exponential"
${more}
[[algorithm]]
kind = "dfab"
steps = { x = 0.007, u = 0.05, z = 0.05 }
[record]
every = 20
metrics = ["worst_error"]
`;

async function take(page, name) {
  await page.screenshot({ path: folder + "/" + name + ".png" });
  check(name + ": no errors", page.errors.length === 0, page.errors);
}

/** Launches nodes and calls `body` with the address of their page; they are stopped afterwards. */
async function withNodes(agents, parameters, body) {
  const network = "[network]\npace = \"free\"\ntick = 0.05\n";
  writeFileSync("out/nodes.toml", experiment(agents, 100000, network));
  rmSync("out/nodes", { recursive: true, force: true });
  const child = spawn(fabnet, ["launch", "out/nodes.toml", "--out", "out/nodes", "--watch",
    ...parameters]);
  const ended = new Promise(done => child.on("exit", done));
  try {
    const address = await new Promise((found, failed) => {
      let said = "";
      child.stderr.on("data", data => {
        said += data;
        const match = /http:\S*\n/.exec(said);
        if (match) found(match[0].trim());
      });
      ended.then(() => failed(new Error(said)));
    });
    await body(address);
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

async function pictureFour(browser) {
  await withNodes(4, [], async address => {
    const page = await open(browser, address);
    await page.waitForFunction(() => watch.run && watch.run.frames.length > 40, null,
      { timeout: 120000 });
    await take(page, "watch-nodes");
    const phone = await open(browser, address, { viewport: { width: 360, height: 740 } });
    await phone.waitForFunction(() => watch.run && watch.run.frames.length > 40);
    await phone.waitForTimeout(1000);
    await take(phone, "watch-phone");
  });
}

async function pictureKills(browser) {
  await withNodes(24, ["--loss", "0.3", "--kill-every", "6s"], async address => {
    const page = await open(browser, address, { colorScheme: "dark" });
    await page.waitForFunction(() => watch.run && watch.run.frames.at(-1).k > 400
      && watch.run.frames.at(-1).s.includes("d"), null, { timeout: 180000, polling: 50 });
    await page.waitForTimeout(150);
    await take(page, "watch-kills");
  });
}

async function pictureMatrix(browser) {
  writeFileSync("out/matrix.toml", experiment(200, 600, "[faults]\nloss = 0.2\n"));
  rmSync("out/matrix", { recursive: true, force: true });
  execFileSync(fabnet, ["run", "out/matrix.toml", "--out", "out/matrix", "--watch"],
    { stdio: "ignore" });
  execFileSync(fabnet, ["watch", "out/matrix", "--export", "out/matrix.html"]);
  const page = await open(browser, "file://" + process.cwd() + "/out/matrix.html");
  await take(page, "watch-matrix");
}

async function picturePartition(browser) {
  execFileSync(fabnet, ["watch", "--seed", "3", "--scenario", "partition", "--export",
    "out/partition.html"]);
  const url = "file://" + process.cwd() + "/out/partition.html";
  const page = await open(browser, url);
  const moment = await page.evaluate(() => {
    const cut = watch.run.events.find(e => e.kind === "fault" && /partition|halves|half|cut/i.test(e.text));
    return cut && cut.until - 10;
  });
  check("partition: there is one", moment !== undefined);
  const there = await open(browser, url + "#t=" + moment);
  await take(there, "watch-partition");
}

await main(async browser => {
  await pictureMatrix(browser);
  await picturePartition(browser);
  await pictureFour(browser);
  await pictureKills(browser);
});
