// npm run faults: the whole suite, printed.  [--minutes N] the soak's length, [--seed S], [--short], [--only WORDS]

import { parseArgs } from "node:util";
import { play, SHORT, scenarios, WHOLE } from "./suite.mjs";

const { values } = parseArgs({
	options: {
		minutes: { type: "string" },
		seed: { type: "string" },
		short: { type: "boolean", default: false },
		only: { type: "string" },
	},
});
const seed = Number(values.seed ?? Date.now() % 1e6);
const extent = { ...(values.short ? SHORT : WHOLE) };
if (values.minutes) extent.soak = Number(values.minutes) * 60;

console.log(`seed ${seed}`);
let tried = 0;
let wrong = 0;
for (const [name, scenario] of Object.entries(scenarios(extent, seed))) {
	if (values.only && !name.includes(values.only)) continue;
	const start = performance.now();
	const result = await play(scenario);
	tried += result.tried;
	wrong += result.wrong.length;
	const took = ((performance.now() - start) / 1000).toFixed(1);
	console.log(
		`${name}: ${result.tried} tried, ${result.wrong.length} wrong, ${took} s${result.note ? ` (${result.note})` : ""}`,
	);
	for (const what of result.wrong.slice(0, 20)) console.log(`  ${what}`);
}
console.log(`tried ${tried}, wrong ${wrong}`);
process.exitCode = wrong > 0 ? 1 : 0;
