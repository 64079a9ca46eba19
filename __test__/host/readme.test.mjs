// What the readmes show is there: each command they name runs, each setting is read, and both say the same.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Home, root, say } from "./pi.mjs";

const read = (name) => readFileSync(join(root, name), "utf8");
const english = read("README.md");
const chinese = read("README.zh-CN.md");
const { scripts } = JSON.parse(read("package.json"));

/** What stands in backticks or in a block of shell commands and starts with these words. */
const named = (readme, start) =>
	[...readme.matchAll(/`([^`\n]+)`/g), ...readme.matchAll(/^([^#\n].*?) *(?:#.*)?$/gm)]
		.map(([, text]) => text.trim())
		.filter((text) => text.startsWith(start));

test("both readmes name the same commands, variables and settings", () => {
	const names = (readme) =>
		new Set(
			[
				...readme.matchAll(
					/`(\/recall(?: (?:import|stats|export|forget|pause|check))?|PI_MEMORY_\w+|npm run \w+|[a-z]+[A-Z]\w+)\b/g,
				),
			].map(([, name]) => name),
		);
	assert.deepEqual([...names(chinese)].sort(), [...names(english)].sort());
});

test("each npm script that they name is there", () => {
	const wanted = [...`${english}\n${chinese}`.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name);
	assert.ok(wanted.length > 0);
	assert.deepEqual(
		wanted.filter((name) => !(name in scripts)),
		[],
	);
});

test("each /recall that they name does what it does, and fails at nothing", async (t) => {
	const home = Home.for(t);
	await home.print("where are the words?", { steps: [say("the words are in cache-shards")] });
	const commands = new Set(named(english, "/recall"));
	assert.ok(commands.size >= 8, [...commands].join("\n"));
	const { session } = home.rows()[0];
	const real = { FOLDER: join(home.agent, "sessions"), SESSION: session, ID: session };
	for (const command of commands) {
		const filled = command.replace(/\b(FOLDER|SESSION|ID)\b/g, (name) => real[name]);
		const { code, err, out } = await home.print(filled);
		assert.equal(code, 0, `${filled}: ${err}`);
		assert.doesNotMatch(`${out}${err}`, /^memory:/m, filled);
	}
	assert.equal(home.rows().length, 2, "nothing is forgotten without a yes");
});

test("each setting that they name is read", async (t) => {
	const home = Home.for(t);
	const settings = [...english.matchAll(/^\| `([a-z]\w+)` +\|/gm)].map(([, name]) => name);
	assert.ok(settings.includes("toolPrefix"), settings.join(" "));
	await home.print("hello");
	writeFileSync(
		join(dirname(home.db), "config.json"),
		JSON.stringify(Object.fromEntries(settings.map((name) => [name, 1]))),
	);
	const { err } = await home.print("hello");
	for (const name of settings)
		assert.match(err, new RegExp(`${name}.*(wants|must|is|be)`), `${name} is complained of by name`);
});
