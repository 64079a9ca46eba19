// npm run faults [-- --minutes N --seed S --short --only WORDS]: what the store survives, tried on the real addon.

import { join } from "node:path";
import { buildForTests } from "./addon.mjs";
import { nodeForPi, root, run } from "./setup.mjs";

const main = join(root, "__test__/faults/main.mjs");
run(nodeForPi(), ["--disable-warning=ExperimentalWarning", main, ...process.argv.slice(2)], {
	env: { ...process.env, PI_MEMORY_ADDON: buildForTests() },
});
