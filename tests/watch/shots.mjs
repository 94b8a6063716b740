// Screenshots of all cases into shots/: node shots.mjs [NAME…] (development).
import { mkdirSync } from "node:fs";
import { main, open } from "./testkit.mjs";

const SHOTS = [
  ["light", "24#t=71", 1440, 2300, "light"], ["dark", "24#t=71", 1440, 2300, "dark"],
  ["kill", "24#t=71", 1440, 1000, "light"], ["drawer", "24#t=71&agent=14", 1440, 1000, "light"],
  ["matrix-200", "200#t=38", 1440, 2560, "light"], ["phone", "24#t=71", 360, 4300, "light"],
  ["phone-screen", "24#t=71", 360, 760, "dark"], ["phone-drawer", "4#t=53&agent=2", 360, 760,
    "light"], ["seed-partition", "seed#t=700", 1440, 2000, "light"],
  ["minimal", "minimal", 1440, 1500, "light"], ["four", "4#t=23", 1440, 1900, "dark"],
  ["hostile", "hostile#agent=0", 1440, 1800, "light"], ["wide-2560", "24#t=71", 2560, 2000,
    "light"], ["unseen", "24#t=35.5", 1440, 2300, "light"],
  ["500", "500#t=38&agent=250", 1440, 1000, "dark"],
];

async function takeShots(browser, server) {
  mkdirSync("shots", { recursive: true });
  for (const [name, address, width, height, scheme] of SHOTS) {
    if (wanted.length && !wanted.includes(name)) continue;
    const page = await open(browser, server.base + "/" + address, { colorScheme: scheme,
      viewport: { width, height }, deviceScaleFactor: width < 600 ? 2 : 1 });
    await page.screenshot({ path: "shots/" + name + ".png" });
    // A long page of a phone is also cut into pieces that can be read.
    for (let y = 0; width < 600 && height > 1000 && y < height; y += 1075) {
      await page.screenshot({ path: "shots/" + name + "-" + y / 1075 + ".png",
        clip: { x: 0, y, width, height: Math.min(1075, height - y) } });
    }
    await page.context().close();
  }
}

const wanted = process.argv.slice(2);
await main(takeShots);
