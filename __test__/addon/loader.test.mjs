// The loader says what it tried.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { folderFor, root } from "./store.mjs";

const target = createRequire(import.meta.url)(join(root, "target.js"));

/** A copy of the package without an addon, and what loading it says. */
function packageIn(folder) {
	const home = join(folder, "node_modules/pi-memory-sessions");
	mkdirSync(home, { recursive: true });
	for (const file of ["index.js", "target.js"]) copyFileSync(join(root, file), join(home, file));
	const { PI_MEMORY_ADDON: addon, ...env } = process.env;
	const load = (more = {}) => {
		const script = `try { console.log(typeof require(${JSON.stringify(home)}).MemoryStore) }
			catch (error) { console.log(error.code + "\\n" + error.message) }`;
		return spawnSync(process.execPath, ["-e", script], { env: { ...env, ...more }, encoding: "utf8" }).stdout;
	};
	return { home, load, addon };
}

test("with no addon the error names the machine, what was tried, why it failed, and the two ways out", (t) => {
	const folder = folderFor(t);
	const { home, load } = packageIn(folder);
	writeFileSync(join(home, `pi-memory-sessions.${target}.node`), "broken");
	const said = load();
	assert.match(said, /^ADDON_MISSING\n/);
	assert.ok(said.includes(`loads on ${target} (Node ${process.versions.node})`), said);
	assert.match(said, /pi-memory-sessions\..+\.node: .*(invalid|too short|not a|file)/i);
	assert.match(said, /pi-memory-sessions-.+: not there/);
	assert.match(said, /npm install pi-memory-sessions-\S+\n.*npm run build\n$/);
});

test("the platform's package is found beside this one", (t) => {
	const folder = folderFor(t);
	const { load, addon } = packageIn(folder);
	const platform = join(folder, "node_modules", `pi-memory-sessions-${target}`);
	mkdirSync(platform);
	copyFileSync(addon, join(platform, `pi-memory-sessions.${target}.node`));
	assert.equal(load(), "function\n");
});

test("PI_MEMORY_ADDON is taken instead of everything else", (t) => {
	const { load, addon } = packageIn(folderFor(t));
	assert.equal(load({ PI_MEMORY_ADDON: addon }), "function\n");
	assert.match(
		load({ PI_MEMORY_ADDON: "/nowhere.node" }),
		/\/nowhere\.node: not there\nEither[\s\S]*\n.*unset it then/,
	);
});
