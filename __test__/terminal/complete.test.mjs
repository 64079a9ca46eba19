// What pi offers after `/recall `, in the real pi.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writePast } from "./past.mjs";
import { homeWith, KEYS, Terminal } from "./terminal.mjs";

async function typing(t) {
	const { home } = await homeWith(t, writePast);
	return { home, pi: await Terminal.open(home) };
}

test("every subcommand is offered with what it does", async (t) => {
	const { pi } = await typing(t);
	await pi.type("/recall ");
	await pi.until(/import +bring in pi's existing session files[\s\S]*export/);
});

test("a session to export is offered by its name and taken by its id", async (t) => {
	const { pi } = await typing(t);
	await pi.type("/recall export cach");
	await pi.until(/→ Cache sharding/);
	await pi.send(KEYS.tab);
	await pi.until(/\/recall export 0199c0de-cache-7000-8000-000000000001/);
});

test("the last of several conditions to forget by is completed", async (t) => {
	const { pi } = await typing(t);
	await pi.type("/recall forget since:2026-01 pro");
	await pi.until(/→ project:/);
	await pi.send(KEYS.tab);
	await pi.type("proj");
	await pi.until(/→ project:project/);
	await pi.send(KEYS.tab);
	await pi.until(/\/recall forget since:2026-01 project:project/);
});

test("a path to import is completed", async (t) => {
	const { home, pi } = await typing(t);
	mkdirSync(join(home.project, "old-sessions"));
	writeFileSync(join(home.project, "old-notes.txt"), "");
	await pi.type("/recall import old");
	await pi.until(/→ old-sessions\//);
	assert.doesNotMatch(pi.screen(), /old-notes/);
});
