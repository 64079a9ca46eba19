// npm test: everything, from a fresh clone. `npm test -- host addon` runs those parts only.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buildForTests } from "./addon.mjs";
import { fail, installPackages, nodeForPi, root, run } from "./setup.mjs";

const PARTS = {
	rust: () => run("cargo", ["test"]),
	addon: () => suite(process.execPath, "addon"),
	types: () => run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]),
	// These import TypeScript as it is and drive pi: both want pi's Node.
	extension: () => suite(nodeForPi(), "extension"),
	host: () => suite(nodeForPi(), "host"),
	// What the store survives: kills, refusals, damage, many processes.
	faults: () => suite(nodeForPi(), "faults"),
	// The screen of /recall, in a pseudo-terminal.
	terminal: () => suite(nodeForPi(), "terminal"),
	pack: () => suite(nodeForPi(), "pack"),
};

let addon;

function suite(node, name) {
	const folder = join(root, "__test__", name);
	const files = readdirSync(folder).filter((file) => file.endsWith(".test.mjs"));
	addon ??= process.env.PI_MEMORY_ADDON ?? buildForTests();
	run(
		node,
		[
			"--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
			"--disable-warning=ExperimentalWarning",
			"--test",
			...files.map((file) => join(folder, file)),
		],
		{ env: { ...process.env, PI_MEMORY_ADDON: addon } },
	);
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) fail(`no such part: ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);

installPackages();
for (const [name, part] of Object.entries(PARTS)) {
	if (wanted.length > 0 && !wanted.includes(name)) continue;
	console.log(`\n== ${name}`);
	part();
}
