// What memory adds to the start and end of `pi -p`: runs with and without it, alternating, and the medians.
// node bench/startup.mjs [runs]   (wants the release addon: npm run build)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeForPi, run } from "../scripts/setup.mjs";

const node = nodeForPi();
if (node !== process.execPath) {
	run(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
	process.exit();
}

const { Home } = await import("../__test__/host/pi.mjs");
const runs = Number(process.argv[2] ?? 10);
const home = new Home(mkdtempSync(join(tmpdir(), "pi-memory-startup-")));
const times = { without: [], with: [] };
try {
	// The first of each is not counted: it fills caches and creates the store.
	for (let n = 0; n <= runs; n++) {
		for (const [name, memory] of [
			["without", false],
			["with", true],
		]) {
			const start = performance.now();
			await home.print("hello", { memory });
			if (n > 0) times[name].push(performance.now() - start);
		}
	}
} finally {
	rmSync(home.dir, { recursive: true, force: true, maxRetries: 5 });
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const [without, with_] = [median(times.without), median(times.with)];
console.log(
	`pi -p, median of ${runs}, alternating: ${without.toFixed(0)} ms without memory, ${with_.toFixed(0)} ms with it`,
);
console.log(`memory adds ${(with_ - without).toFixed(0)} ms`);
