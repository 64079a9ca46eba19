// When memory fails, pi goes on and says why.

import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { call, extension, Home, root, say } from "./pi.mjs";

test("without the addon pi works and says what was tried and what to do", async (t) => {
	const home = Home.for(t);
	const missing = join(home.dir, "missing.node");
	const steps = [call("session_search", { query: "x" }), say("done")];
	const run = await home.print("hello", { steps, env: { PI_MEMORY_ADDON: missing } });
	assert.deepEqual([run.code, run.out], [0, "done\n"]);
	for (const text of [run.err, home.toolText("session_search")]) {
		assert.ok(text.includes(`${missing}: not there`), text);
		assert.match(text, /npm install pi-memory-sessions-.*\n.*npm run build/);
	}
	assert.equal(run.err.match(/not there/g).length, 1, "said once");
});

test("a broken addon leaves pi working, in rpc too", async (t) => {
	const home = Home.for(t);
	const broken = join(home.dir, "broken.node");
	writeFileSync(broken, "no library");
	const pi = home.rpc({ steps: [say("fine")], env: { PI_MEMORY_ADDON: broken } });
	await pi.prompt("hello");
	await pi.prompt("hello again");
	const told = pi.notices();
	assert.equal(told.length, 1, "said once a session");
	assert.ok(told[0].includes(broken), told[0]);
	assert.match(await pi.command("/recall x"), /memory is off/);
	const { code, err } = await pi.end();
	assert.equal(code, 0, err);
	assert.ok(!pi.events.some((event) => event.type === "extension_error"));
});

test("a store that cannot be opened leaves pi working and says why", async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	writeFileSync(join(dirname(home.db), "plain"), "");
	const run = await home.print("hello", { env: { PI_MEMORY_DB: join(dirname(home.db), "plain", "sessions.db") } });
	assert.deepEqual([run.code, run.out], [0, "ok\n"]);
	assert.match(run.err, /memory is off: /);
});

test("an unwritable folder leaves pi working", {
	skip: process.getuid?.() === 0 && "root writes anywhere",
}, async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	chmodSync(dirname(home.db), 0o500);
	const run = await home.print("hello");
	assert.deepEqual([run.code, run.out], [0, "ok\n"]);
	assert.match(run.err, /memory is off: /);
});

test("a store of a newer edition is left alone", async (t) => {
	const home = Home.for(t);
	await home.print("hello");
	const { DatabaseSync } = await import("node:sqlite");
	const database = new DatabaseSync(home.db);
	database.exec("pragma user_version = 999");
	database.close();
	const run = await home.print("hello again");
	assert.deepEqual([run.code, run.out], [0, "ok\n"]);
	assert.match(run.err, /memory is off: .*999/s);
});

test("a wrong setting is named and not fatal", async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	const settings = { searchAllProjects: "yes", colour: 1, excludeFolders: ["**/private/**"] };
	writeFileSync(join(dirname(home.db), "config.json"), JSON.stringify(settings));
	const run = await home.print("hello");
	assert.equal(run.code, 0);
	assert.match(run.err, /config\.json: "searchAllProjects" wants true or false/);
	assert.match(run.err, /config\.json: "colour" is no setting/);
	assert.equal(home.rows().length, 2);
});

test("a folder left out by the settings is never kept", async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	writeFileSync(join(dirname(home.db), "config.json"), JSON.stringify({ excludeFolders: ["~/project"] }));
	await home.print("hello");
	await home.print("/recall import");
	assert.deepEqual(home.rows(), []);
});

test("scripted runs are not kept when the settings say so, not even by an import", async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	writeFileSync(join(dirname(home.db), "config.json"), JSON.stringify({ keepScriptedRuns: false }));
	await home.print("by a script");
	const pi = home.rpc({ args: ["-c"] });
	await pi.prompt("by a person");
	await pi.end();
	await home.print("/recall import");
	assert.deepEqual(
		home.rows().map((row) => row.text),
		["by a person", "ok"],
	);
});

test("a store that opens late takes in what was said before", async (t) => {
	const home = Home.for(t);
	mkdirSync(dirname(home.db), { recursive: true });
	const obstacle = join(dirname(home.db), "later");
	writeFileSync(obstacle, "");
	const pi = home.rpc({ env: { PI_MEMORY_DB: join(obstacle, "sessions.db") } });
	await pi.prompt("too early");
	rmSync(obstacle);
	await new Promise((resolve) => setTimeout(resolve, 5_500));
	await pi.prompt("in time");
	await pi.end();
	assert.deepEqual(
		home.rows(join(obstacle, "sessions.db")).map((row) => row.text),
		["too early", "ok", "in time", "ok"],
	);
});

/** pi's flags that load these in this order. */
const loading = (...extensions) => extensions.flatMap((path) => ["-e", path]);
const asking = [call("session_search", { query: "hello" }), say("done")];

for (const order of ["before", "after"]) {
	test(`another extension that has session_search, loaded ${order} ours, keeps it, and pi says so once`, async (t) => {
		const home = Home.for(t);
		const both = order === "before" ? [extension("owner"), root] : [root, extension("owner")];
		const run = await home.print("hello", { args: loading(...both), memory: false, steps: [...asking] });
		assert.deepEqual([run.code, run.out], [0, "done\n"]);
		assert.equal(run.err.match(/owner\.ts already has a tool session_search/g)?.length, 1, run.err);
		assert.equal(home.toolText("session_search"), "theirs");
		assert.equal(home.rows()[0].text, "hello", "what is said is kept all the same");
	});

	test(`a prefix gives the model our tools beside those of an extension loaded ${order} ours`, async (t) => {
		const home = Home.for(t);
		mkdirSync(dirname(home.db), { recursive: true });
		writeFileSync(join(dirname(home.db), "config.json"), JSON.stringify({ toolPrefix: "my_" }));
		const both = order === "before" ? [extension("owner"), root] : [root, extension("owner")];
		const steps = [call("my_session_search", { query: "hello" }), ...asking];
		const run = await home.print("hello", { args: loading(...both), memory: false, steps });
		assert.deepEqual([run.code, run.err], [0, ""]);
		assert.match(home.toolText("my_session_search"), /^\d+ messages?/);
		assert.equal(home.toolText("session_search"), "theirs");
	});
}

test("a second copy of the package does nothing and says so once, also after a reload", async (t) => {
	const home = Home.for(t);
	const copy = join(home.dir, "copy");
	for (const name of ["extension", "index.js", "target.js", "package.json"]) {
		cpSync(join(root, name), join(copy, name), { recursive: true });
	}
	const pi = home.rpc({ args: loading(copy, extension("commands")), steps: [...asking] });
	await pi.prompt("hello");
	const said = pi.notices();
	assert.deepEqual(
		said.map((text) => /is there twice/.test(text) && text.includes(`${copy} does nothing`)),
		[true],
		said.join("\n"),
	);
	assert.match(home.toolText("session_search"), /messages?/);
	assert.equal(await pi.command("/reload-now"), said[0]);
	await pi.prompt("hello again");
	const { code, err } = await pi.end();
	assert.equal(code, 0, err);
	assert.deepEqual(
		home.rows().map((row) => row.text),
		["hello", "done", "hello again", "done"],
		"kept once, by the copy that is used",
	);
});
