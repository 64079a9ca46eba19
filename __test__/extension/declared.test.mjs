// index.d.ts declares what the addon has, and no other: its methods, and each field of what they return.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderFor, MemoryStore, session, user } from "../addon/store.mjs";

const declared = readFileSync(new URL("../../index.d.ts", import.meta.url), "utf8");

test("what index.d.ts declares is what the addon has", () => {
	const body = declared.slice(declared.indexOf("export class MemoryStore"));
	const methods = [...body.matchAll(/^\t(\w+)\(/gm)].map(([, name]) => name);
	assert.deepEqual(methods.sort(), Object.getOwnPropertyNames(MemoryStore.prototype).sort());
});

test("what the methods return has the fields that index.d.ts declares", async (t) => {
	const folder = folderFor(t);
	const file = join(folder, "sessions/x/2026-01-01T00-00-00-000Z_s1.jsonl");
	mkdirSync(join(folder, "sessions/x"), { recursive: true });
	const parts = [{ type: "text", text: "the cache 缓存" }];
	const message = { role: "user", content: parts, timestamp: 1_767_225_600_000 };
	const lines = [
		{ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/code/api" },
		{ type: "message", id: "00000001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", message },
		{ type: "nobody knows", id: "00000002", parentId: "00000001", timestamp: "2026-01-01T00:00:00.000Z" },
	];
	writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{bad\n`);
	const store = new MemoryStore({ path: join(folder, "sessions.db") });
	t.after(() => store.close());
	const from = join(folder, "sessions");

	conform("Waiting", await store.waiting({ from }));
	const seen = [];
	const report = await store.import({ from, onProgress: (progress) => seen.push(progress) });
	conform("ImportReport", report);
	assert.deepEqual([report.skipped.length, report.unknownTypes], [1, { "nobody knows": 1 }]);
	assert.ok(seen.length > 0);
	for (const progress of seen) conform("ImportProgress", progress);
	conform("Tail", store.tail("s1", file));

	store.begin(session("s2", { name: "named", file, parentFile: file, parent: "s1" }));
	conform("Captured", store.capture("s2", { type: "message", id: "0000000a", message: user("the cache again") }));
	const result = store.search("cache zzyzx");
	conform("SearchResult", result);
	assert.deepEqual([result.hits.length, result.sessions.length, result.missing], [2, 2, ["zzyzx"]]);
	conform("Window", store.read("s2", { highlight: "cache" }));
	for (const summary of store.sessions()) conform("SessionSummary", summary);
	conform("Stats", await store.stats());
	conform("Health", await store.check());
	conform("ForgetReport", await store.forget({ session: "s1", dryRun: true }));
});

test("every code an error can have is declared", () => {
	const union = declared.slice(declared.indexOf("export type MemoryErrorCode"), declared.indexOf("/** A pi session"));
	const codes = [...union.matchAll(/"(\w+)"/g)].map(([, code]) => code);
	const errors = readFileSync(new URL("../../src/error.rs", import.meta.url), "utf8");
	const thrown = [...errors.matchAll(/=> "([A-Z_]+)"/g)].map(([, code]) => code);
	assert.deepEqual(codes.sort(), [...thrown, "ADDON_MISSING"].sort());
	for (const code of codes) assert.match(declared, new RegExp(`\\* - \`${code}\`: \\w`));
});

/** The fields of an interface, those it extends among them: by name, their type and whether they may be absent. */
function fieldsOf(name) {
	const [, parent, body] = declared.match(
		new RegExp(`export interface ${name}(?: extends (\\w+))? {\\n(.*?)\\n}`, "s"),
	);
	const fields = [...body.matchAll(/^\t(\w+)(\??): (.+);$/gm)];
	const own = fields.map(([, field, optional, type]) => [field, { type, optional: optional === "?" }]);
	return new Map([...(parent ? fieldsOf(parent) : []), ...own]);
}

/** Asserts that a value is what a type says, with nothing more and nothing less. */
function conform(type, value, path = type) {
	const named = declared.match(new RegExp(`export type ${type} =([^;]+);`))?.[1];
	const [, items] = type.match(/^(.+)\[\]$/) ?? [];
	if (items) {
		assert.ok(Array.isArray(value), path);
		for (const [at, item] of value.entries()) conform(items, item, `${path}[${at}]`);
	} else if (type.startsWith("[")) {
		assert.deepEqual(
			value.map((one) => typeof one),
			type.slice(1, -1).split(", "),
			path,
		);
	} else if (type.startsWith("Record<")) {
		for (const one of Object.values(value)) assert.equal(typeof one, "number", path);
	} else if (type.startsWith("{")) {
		const fields = [...type.matchAll(/(\w+)(\??): (\w+)/g)];
		fits(
			new Map(fields.map(([, field, optional, type]) => [field, { type, optional: optional === "?" }])),
			value,
			path,
		);
	} else if (named ?? type.includes(" | ")) {
		const choices = (named ?? type).split("|").map((one) => one.trim());
		assert.ok(choices.includes(JSON.stringify(value)) || choices.includes(typeof value), `${path}: ${value}`);
	} else if (/^[A-Z]/.test(type)) {
		fits(fieldsOf(type), value, path);
	} else {
		assert.equal(typeof value, type, path);
	}
}

function fits(fields, value, path) {
	for (const [field, { type, optional }] of fields) {
		if (Object.hasOwn(value, field)) conform(type, value[field], `${path}.${field}`);
		else assert.ok(optional, `${path}.${field} is declared but not there`);
	}
	for (const field of Object.keys(value)) assert.ok(fields.has(field), `${path}.${field} is not declared`);
}
