// The store through its JavaScript face.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderFor, MemoryStore, root, session, storeFor, textsOf, user } from "./store.mjs";

const code = (wanted) => (error) => error instanceof Error && error.code === wanted && error.message.length > 10;

test("what was captured is found at once, read, listed and counted", async (t) => {
	const store = storeFor(t);
	store.begin(session("s1", { name: "cache sharding" }));
	const first = store.capture("s1", user("我们讨论过的缓存索引 and the WAL", 1_700_000_000_001));
	assert.equal(first.stored, true);

	const { hits, sessions, tier } = store.search("缓存 wal");
	assert.deepEqual([hits.length, hits[0].id, hits[0].role, tier], [1, first.id, "user", "all"]);
	assert.deepEqual(
		hits[0].marks.map(([from, to]) => hits[0].snippet.slice(from, to)),
		["缓存", "WAL"],
	);
	assert.deepEqual([sessions[0].id, sessions[0].name, sessions[0].project], ["s1", "cache sharding", "api"]);
	assert.deepEqual(textsOf(store, "s1"), ["我们讨论过的缓存索引 and the WAL"]);
	assert.equal(store.sessions()[0].messages, 1);
	const stats = await store.stats();
	assert.deepEqual([stats.messages, stats.sessions, stats.projects], [1, 1, 1]);
});

test("a duplicate is stored once, and says so", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	const first = store.capture("s1", user("the same"));
	const second = store.capture("s1", user("the same"));
	assert.deepEqual([first.stored, second.stored], [true, false]);
	assert.equal(second.id, first.id);
	assert.deepEqual(textsOf(store, "s1"), ["the same"]);
});

test("an entry of which nothing is kept has no id", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	const result = { role: "toolResult", toolName: "read", toolCallId: "c", content: [], isError: false, timestamp: 1 };
	assert.deepEqual(store.capture("s1", result), { stored: false, id: null });
	assert.deepEqual(store.sessions(), []);
});

test("a store that is opened again has everything", (t) => {
	const path = join(folderFor(t), "sessions.db");
	const first = new MemoryStore({ path });
	first.begin(session("s1"));
	first.capture("s1", user("persistent words"));
	first.close();
	const again = new MemoryStore({ path });
	assert.equal(again.search("persistent").hits.length, 1);
	again.close();
});

test("a closed store refuses, politely", (t) => {
	const store = storeFor(t);
	store.close();
	store.close();
	assert.throws(() => store.search("x"), code("CLOSED"));
});

test("several processes write at once and nothing is lost or doubled", async (t) => {
	const path = join(folderFor(t), "sessions.db");
	const each = 200;
	const script = `
		const { MemoryStore } = require(${JSON.stringify(join(root, "index.js"))});
		const store = new MemoryStore({ path: ${JSON.stringify(path)} });
		const me = process.argv[1];
		store.begin({ id: me, cwd: "/w", startedAt: 1 });
		for (let n = 0; n < ${each}; n++) store.capture(me, { role: "user", content: me + " word " + n, timestamp: n + 1 });
		store.close();`;
	const writers = ["w1", "w2", "w3"].map((name) => spawn(process.execPath, ["-e", script, name], { stdio: "inherit" }));
	const codes = await Promise.all(writers.map(async (writer) => (await once(writer, "close"))[0]));
	assert.deepEqual(codes, [0, 0, 0]);
	const store = new MemoryStore({ path });
	assert.equal((await store.stats()).messages, 3 * each);
	store.close();
});

test("a folder that cannot be made is an error of the disk", (t) => {
	const folder = folderFor(t);
	writeFileSync(join(folder, "file"), "");
	assert.throws(() => new MemoryStore({ path: join(folder, "file", "sessions.db") }), code("IO"));
});

/** Runs as somebody who may not write everywhere. */
function withoutPrivileges(work) {
	if (process.getuid() !== 0) return work();
	const nobody = 65_534;
	process.seteuid(nobody);
	try {
		return work();
	} finally {
		process.seteuid(0);
	}
}

const posix = { skip: process.platform === "win32" && "no such modes" };
test("an unwritable folder is an error of the disk", posix, (t) => {
	const folder = folderFor(t);
	chmodSync(folder, 0o555);
	withoutPrivileges(() => assert.throws(() => new MemoryStore({ path: join(folder, "sessions.db") }), code("IO")));
});

test("folder and files are the owner's alone", posix, (t) => {
	const path = join(folderFor(t), "memory", "sessions.db");
	const before = process.umask(0);
	const store = new MemoryStore({ path });
	process.umask(before);
	store.begin(session("s1"));
	store.capture("s1", user("private"));
	const mode = (file) => statSync(file).mode & 0o777;
	assert.deepEqual([mode(join(path, "..")), mode(path), mode(`${path}-wal`)], [0o700, 0o600, 0o600]);
	store.close();
});

test("session ids may be shortened as far as they are unambiguous", (t) => {
	const store = storeFor(t);
	for (const id of ["01a2-one", "01a2-two"]) {
		store.begin(session(id));
		store.capture(id, user(`words of ${id}`));
	}
	assert.equal(store.read("01a2-o").session.id, "01a2-one");
	assert.throws(
		() => store.read("01a2"),
		(error) => code("AMBIGUOUS")(error) && /01a2-one/.test(error.message) && /01a2-two/.test(error.message),
	);
	assert.throws(() => store.read("nothing"), code("NOT_FOUND"));
});

test("what is left out of a search stays out with its session, its place, or its entries", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	const line = (id, text, ts) => ({
		type: "message",
		id,
		parentId: null,
		timestamp: new Date(ts).toISOString(),
		message: user(text, ts),
	});
	store.capture("s1", line("e1", "apple one", 1_000));
	store.capture("s1", line("e2", "apple two", 2_000));
	store.capture("s1", user("apple three", 3_000));
	const found = (exclude) =>
		store
			.search("apple", { exclude })
			.hits.map((hit) => hit.seq)
			.sort();
	assert.deepEqual(found([]), [1, 2, 3]);
	assert.deepEqual(found(["s1"]), []);
	assert.deepEqual(found([{ session: "s1", fromSeq: 2 }]), [1]);
	assert.deepEqual(found([{ session: "s1", entries: ["e2"] }]), [1]);
	assert.deepEqual(found([{ session: "unknown", entries: ["e2"] }]), [1, 2, 3]);
});

test("options of the wrong kind are refused by name, those out of range are clamped", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	store.capture("s1", user("words"));
	for (const wrong of [
		() => store.search(5),
		() => store.search("x", { limit: "many" }),
		() => store.search("x", { since: "not a date" }),
		() => store.search("x", { role: "king" }),
		() => store.begin({ cwd: "/x" }),
		() => store.capture("s1", "text"),
		() => store.capture("s1", 5),
		() => store.read("s1", { before: "all" }),
		() => new MemoryStore({ path: 5 }),
	]) {
		assert.throws(wrong, code("INVALID_ARGUMENT"), String(wrong));
	}
	assert.equal(store.search("words", { limit: 1e9 }).hits.length, 1);
	assert.equal(store.search("words", { limit: -3 }).hits.length, 1);
	assert.equal(store.read("s1", { before: -1, after: 1e12 }).messages.length, 1);
});

test("every query has an answer", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	store.capture("s1", user("some words here"));
	const queries = [
		"",
		"   ",
		"?!…",
		"x".repeat(10_000),
		'"',
		'"a" OR (b* NEAR c)',
		"col:zebra ^x -y",
		"\0",
		"\ud800",
		"🙂",
	];
	for (const query of queries) {
		const { hits, tier, searched } = store.search(query);
		assert.deepEqual([hits.length, tier, searched.messages], [0, "none", 1], JSON.stringify(query).slice(0, 40));
	}
});

test("a paused session is not kept until it is resumed", (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	store.pause("s1");
	assert.equal(store.paused("s1"), true);
	store.capture("s1", user("unheard", Date.now()));
	store.resume("s1");
	assert.equal(store.paused("s1"), false);
	store.capture("s1", user("heard", Date.now() + 1));
	assert.deepEqual(textsOf(store, "s1"), ["heard"]);
});

test("what is forgotten is gone and stays gone", async (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	const { id } = store.capture("s1", user("a secret word"));
	assert.deepEqual((await store.forget({ message: id, dryRun: true })).messages, 1);
	assert.equal(store.search("secret").hits.length, 1);
	assert.equal((await store.forget({ message: id })).messages, 1);
	store.capture("s1", user("a secret word"));
	assert.equal(store.search("secret").hits.length, 0);
	await assert.rejects(async () => store.forget({}), code("INVALID_ARGUMENT"));
	await assert.rejects(async () => store.forget({ message: id + 0.5 }), code("INVALID_ARGUMENT"));
});

test("a condition that is not understood is refused, not left out", async (t) => {
	const store = storeFor(t);
	store.begin(session("s1"));
	store.capture("s1", user("kept", 1_700_000_000_001));
	const wrong = [{ since: Number.NaN }, { message: Number.NaN }, { until: new Date("x") }, { befor: 5 }];
	for (const condition of wrong)
		await assert.rejects(async () => store.forget({ session: "s1", ...condition }), { code: "INVALID_ARGUMENT" });
	assert.throws(() => store.search("kept", { since: Number.NaN }), { code: "INVALID_ARGUMENT" });
	assert.equal(store.search("kept", { since: undefined }).hits.length, 1);
});

test("a lone surrogate in what is asked is read as in what is stored, and elsewhere matches nothing", (t) => {
	const store = storeFor(t);
	store.begin(session("s1", { cwd: "/code/\ud800\\\\ud" }));
	store.capture("s1", user("zebra"));
	const hits = (options) => store.search("zebra", options).hits.length;
	assert.equal(hits({ project: "/code/\udc00\\\\ud" }), 1);
	assert.equal(hits({ project: "/code/\ud800" }), 0);
	assert.equal(hits({ exclude: ["\ud800"] }), 1);
});
