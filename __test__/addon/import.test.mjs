// Importing pi's session files: every version and entry type, and what is wrong with real ones.

import assert from "node:assert/strict";
import {
	accessSync,
	appendFileSync,
	chmodSync,
	constants,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderFor, MemoryStore, root, storeFor, textsOf, user } from "./store.mjs";

const iso = (ts) => new Date(ts).toISOString();
const T = 1_700_000_000_000;
const header = (id = "s1", more = {}) => ({
	type: "session",
	version: 3,
	id,
	timestamp: iso(T),
	cwd: "/code/api",
	...more,
});
const entry = (n, fields) => ({ id: `e${n}`, parentId: n > 1 ? `e${n - 1}` : null, timestamp: iso(T + n), ...fields });
const said = (n, role, content, more = {}) =>
	entry(n, { type: "message", message: { role, content, timestamp: T + n, ...more } });
const text = (text) => [{ type: "text", text }];

/** Writes a session file; lines are objects, or strings as they are. */
function write(folder, name, lines) {
	mkdirSync(folder, { recursive: true });
	const file = join(folder, name);
	writeFileSync(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
	appendFileSync(file, "\n");
	return file;
}

/** Whether this process may read a file whatever its rights say. */
function isReadable(file) {
	try {
		accessSync(file, constants.R_OK);
		return true;
	} catch {
		return false;
	}
}

test("every entry type: what is kept, what is not, and unknown ones counted", async (t) => {
	const folder = folderFor(t);
	write(folder, "a.jsonl", [
		header(),
		entry(1, { type: "model_change", provider: "p", modelId: "m" }),
		entry(2, { type: "thinking_level_change", thinkingLevel: "off" }),
		said(3, "system", "", { sections: { preamble: "x" } }),
		said(4, "user", [...text("look at this"), { type: "image", data: "", mimeType: "image/png" }]),
		said(5, "assistant", [
			{ type: "thinking", thinking: "hidden" },
			...text("I will read"),
			{ type: "toolCall", id: "c1", name: "read", arguments: { path: "src/a.ts" } },
		]),
		said(6, "toolResult", text("contents"), { toolCallId: "c1", toolName: "read", isError: false }),
		said(7, "toolResult", text("ENOENT"), { toolCallId: "c2", toolName: "bash", isError: true }),
		said(8, "bashExecution", undefined, {
			command: "ls",
			output: "a",
			exitCode: 0,
			cancelled: false,
			truncated: false,
		}),
		entry(9, { type: "compaction", summary: "We chose sharding", firstKeptEntryId: "e4", tokensBefore: 9 }),
		entry(10, { type: "branch_summary", fromId: "e5", summary: "Tried the other way" }),
		entry(11, { type: "custom", customType: "state", data: {} }),
		entry(12, { type: "custom_message", customType: "x", content: "from an extension", display: true }),
		entry(13, { type: "label", targetId: "e4", label: "here" }),
		entry(14, { type: "session_info", name: "the name" }),
		entry(15, { type: "hologram", data: 1 }),
	]);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.deepEqual([report.files, report.sessions, report.stored, report.skipped], [1, 1, 6, []]);
	assert.deepEqual(report.unknownTypes, { hologram: 1 });
	assert.deepEqual(textsOf(store, "s1"), [
		"look at this\n[图片]",
		'I will read\n→ read({"path":"src/a.ts"})',
		"✗ bash: ENOENT",
		"! ls",
		"We chose sharding",
		"Tried the other way",
	]);
	assert.equal(store.sessions()[0].name, "the name");
});

test("version 1 has no entry ids and is read all the same", async (t) => {
	const folder = folderFor(t);
	write(folder, "v1.jsonl", [
		{ type: "session", id: "old", timestamp: iso(T), cwd: "/code/old", provider: "p", modelId: "m" },
		{ type: "message", timestamp: iso(T + 1), message: user("old words", T + 1) },
		{
			type: "message",
			timestamp: iso(T + 2),
			message: { role: "assistant", content: text("old answer"), timestamp: T + 2 },
		},
	]);
	const store = storeFor(t);
	assert.equal((await store.import({ from: folder })).stored, 2);
	assert.deepEqual(textsOf(store, "old"), ["old words", "old answer"]);
});

test("a bad line is named and costs no good line beside it", async (t) => {
	const folder = folderFor(t);
	const file = write(folder, "bad.jsonl", [
		header(),
		said(1, "user", text("before")),
		"{broken",
		said(2, "user", text("after")),
	]);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.deepEqual(
		report.skipped.map(({ file, line }) => [file, line]),
		[[file, 3]],
	);
	assert.match(report.skipped[0].reason, /\w/);
	assert.deepEqual(textsOf(store, "s1"), ["before", "after"]);
});

test("a lone surrogate is mended and its line kept", async (t) => {
	const folder = folderFor(t);
	const line = JSON.stringify(said(1, "user", text("half @ character"))).replace("@", "\\ud800");
	write(folder, "a.jsonl", [header(), line]);
	const store = storeFor(t);
	assert.equal((await store.import({ from: folder })).stored, 1);
	assert.deepEqual(textsOf(store, "s1"), ["half \ufffd character"]);
});

test("a file that is no session and an empty one harm nothing", async (t) => {
	const folder = folderFor(t);
	write(folder, "other.jsonl", [{ sessionId: "x", uuid: "y", type: "summary", leafUuid: "z" }, { hello: "world" }]);
	writeFileSync(join(folder, "empty.jsonl"), "");
	writeFileSync(join(folder, "notes.txt"), "not looked at");
	write(folder, "good.jsonl", [header(), said(1, "user", text("good"))]);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.equal(report.stored, 1);
	assert.ok(
		report.skipped.some(({ file }) => file.endsWith("other.jsonl")),
		"the foreign file is named",
	);
});

test("what is in already costs nothing, what was appended is added", async (t) => {
	const folder = folderFor(t);
	const file = write(folder, "a.jsonl", [header(), said(1, "user", text("first"))]);
	const store = storeFor(t);
	await store.import({ from: folder });
	assert.equal((await store.waiting({ from: folder })).files, 0);
	assert.equal((await store.import({ from: folder })).stored, 0);
	appendFileSync(file, `${JSON.stringify(said(2, "user", text("second")))}\n`);
	write(folder, "b.jsonl", [header("s2")]);
	const { files, all } = await store.waiting({ from: folder });
	assert.deepEqual({ files, all }, { files: 2, all: 2 });
	assert.equal((await store.import({ from: folder })).stored, 1);
	assert.deepEqual(textsOf(store, "s1"), ["first", "second"]);
});

test("what was captured live is claimed by its entry, not doubled", async (t) => {
	const store = storeFor(t);
	store.begin({ id: "s1", cwd: "/code/api", startedAt: T });
	store.capture("s1", user("said live", T + 1));
	const file = write(folderFor(t), "a.jsonl", [
		header(),
		said(1, "user", text("said live")),
		said(2, "user", text("and missed")),
	]);
	const tail = store.tail("s1", file);
	assert.deepEqual([tail.stored, tail.behind], [1, 0]);
	const { messages } = store.read("s1", { before: 9, after: 9 });
	assert.deepEqual(
		messages.map((message) => [message.seq, message.entryId, message.text]),
		[
			[1, "e1", "said live"],
			[2, "e2", "and missed"],
		],
	);
});

test("an import shows how far it is, and an aborted one keeps what it has", async (t) => {
	const folder = folderFor(t);
	for (let n = 0; n < 30; n++) {
		const lines = Array.from({ length: 50 }, (_, index) => said(index + 1, "user", text(`words ${n} ${index}`)));
		write(folder, `${n}.jsonl`, [header(`s${n}`), ...lines]);
	}
	const store = storeFor(t);
	const seen = [];
	const abort = new AbortController();
	const report = await store.import({
		from: folder,
		signal: abort.signal,
		onProgress: (progress) => {
			seen.push(progress);
			abort.abort();
		},
	});
	assert.ok(seen.length > 0);
	assert.ok(seen[0].files === 30 && seen[0].bytes > 0);
	assert.equal((await store.stats()).messages, report.stored);
	const rest = await store.import({ from: folder });
	assert.equal(report.stored + rest.stored, 30 * 50);
	const before = new AbortController();
	before.abort();
	assert.equal((await store.import({ from: folder, signal: before.signal })).cancelled, true);
});

test("extensions' messages are kept when asked for: from the file and its tail once, and not otherwise", async (t) => {
	const folder = folderFor(t);
	const told = entry(2, { type: "custom_message", customType: "x", content: "from an extension", display: true });
	const file = write(folder, "a.jsonl", [header(), said(1, "user", text("hello")), told]);
	const keeping = storeFor(t, { keepExtensionMessages: true });
	// The event has the extension's time, the file pi's.
	keeping.capture("s1", { role: "custom", customType: "x", content: "from an extension", timestamp: T });
	assert.equal(keeping.tail("s1", file).stored, 2);
	await keeping.import({ from: folder });
	assert.deepEqual(textsOf(keeping, "s1"), ["hello", "from an extension"]);
	const imported = storeFor(t, { keepExtensionMessages: true });
	assert.equal((await imported.import({ from: folder })).stored, 2);
	const usual = storeFor(t);
	assert.equal(usual.capture("s1", told).stored, false);
	await usual.import({ from: folder });
	assert.deepEqual(textsOf(usual, "s1"), ["hello"]);
	assert.throws(() => storeFor(t, { keepExtensionMessages: "yes" }), { code: "INVALID_ARGUMENT" });
});

test("an entry whose parent is nowhere follows the one before it", async (t) => {
	const folder = folderFor(t);
	write(folder, "a.jsonl", [
		header(),
		said(1, "user", text("one")),
		{ ...said(2, "assistant", text("two")), parentId: "gone" },
		said(3, "user", text("three")),
	]);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.deepEqual([report.stored, report.skipped], [3, []]);
	assert.deepEqual(textsOf(store, "s1"), ["one", "two", "three"]);
});

test("a link to a session file is said and its file read once; one that leads to itself harms nothing", async (t) => {
	const folder = folderFor(t);
	const file = write(join(folder, "real"), "a.jsonl", [header(), said(1, "user", text("one"))]);
	mkdirSync(join(folder, "links"));
	const links = ["copy.jsonl", "loop.jsonl", "up"].map((name) => join(folder, "links", name));
	symlinkSync(file, links[0]);
	symlinkSync(links[1], links[1]);
	symlinkSync(folder, links[2]);
	const store = storeFor(t);
	const report = await store.import({ from: join(folder, "links") });
	assert.deepEqual([report.files, report.stored], [1, 1]);
	assert.deepEqual(report.skipped.map((one) => one.file).sort(), links.sort());
	assert.equal((await store.import({ from: folder })).stored, 0);
});

test("what cannot be read is named and costs nothing beside it", async (t) => {
	const folder = folderFor(t);
	write(folder, "good.jsonl", [header(), said(1, "user", text("good"))]);
	mkdirSync(join(folder, "folder.jsonl"));
	write(join(folder, "folder.jsonl"), "in.jsonl", [header("s2"), said(1, "user", text("inside"))]);
	const closed = write(folder, "closed.jsonl", [header("s3"), said(1, "user", text("closed"))]);
	chmodSync(closed, 0);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.deepEqual([textsOf(store, "s1"), textsOf(store, "s2")], [["good"], ["inside"]]);
	if (isReadable(closed)) return; // To root.
	assert.deepEqual([report.stored, report.skipped.map(({ file }) => file)], [2, [closed]]);
	chmodSync(closed, 0o600);
	assert.equal((await store.import({ from: folder })).stored, 1);
});

const noReader = { skip: process.platform !== "linux" && "no file here opens and cannot be read, not even by root" };
test("a file that fails while it is read is named and costs nothing beside it", noReader, async (t) => {
	const folder = folderFor(t);
	write(folder, "good.jsonl", [header(), said(1, "user", text("good"))]);
	symlinkSync("/proc/self/mem", join(folder, "failing.jsonl"));
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.equal(report.stored, 1);
	assert.equal(
		report.skipped.filter(({ file, reason }) => /mem$/.test(file) && /cannot be read/.test(reason)).length,
		1,
	);
});

test("a file that is no session, or a private one, is asked once, and again when it or the settings change", async (t) => {
	const from = folderFor(t);
	write(from, "notes.jsonl", ["# notes"]);
	const other = write(from, "other.jsonl", [{ type: "user", sessionId: "x" }]);
	write(from, "private.jsonl", [header("s2", { cwd: "/private" }), said(1, "user", text("private"))]);
	const path = join(folderFor(t), "sessions.db");
	const open = (excludeFolders) => new MemoryStore({ path, excludeFolders });
	let store = open(["/private"]);
	t.after(() => store.close());
	const waiting = async () => (await store.waiting({ from })).files;
	assert.equal(await waiting(), 3);
	assert.equal((await store.import({ from })).skipped.length, 3);
	assert.equal(await waiting(), 0);
	assert.deepEqual((await store.import({ from })).skipped, []);
	writeFileSync(other, `${JSON.stringify(header("s3"))}\n${JSON.stringify(said(1, "user", text("a session now")))}\n`);
	assert.equal(await waiting(), 1);
	assert.equal((await store.import({ from })).stored, 1);
	store.close();
	store = open([]);
	assert.equal((await store.import({ from })).stored, 1);
	assert.deepEqual(textsOf(store, "s2"), ["private"]);
});

test("two records on one line are both kept", async (t) => {
	const folder = folderFor(t);
	const pair = [said(1, "user", text("one")), said(2, "assistant", text("two"))].map((one) => JSON.stringify(one));
	write(folder, "a.jsonl", [header(), pair.join(""), said(3, "user", text("three"))]);
	const store = storeFor(t);
	const report = await store.import({ from: folder });
	assert.deepEqual([report.stored, report.skipped], [3, []]);
	assert.deepEqual(textsOf(store, "s1"), ["one", "two", "three"]);
});

test("a last line without its end is read when it is whole, and once; a half-written one is left for next time", async (t) => {
	const folder = folderFor(t);
	const file = write(folder, "a.jsonl", [header()]);
	const [one, two] = [said(1, "user", text("one")), said(2, "user", text("two"))].map((said) => JSON.stringify(said));
	const store = storeFor(t);
	const imported = async (more) => {
		appendFileSync(file, more);
		const { stored, skipped } = await store.import({ from: folder });
		return [stored, skipped];
	};
	assert.deepEqual(await imported(one), [1, []]);
	assert.deepEqual(await imported(`\n${two.slice(0, 60)}`), [0, []]);
	assert.deepEqual(await imported(two.slice(60)), [1, []]);
	assert.deepEqual(await imported("\n"), [0, []]);
	assert.deepEqual(textsOf(store, "s1"), ["one", "two"]);
	assert.ok(readFileSync(file, "utf8").endsWith(`${two}\n`));
});

test("of entries that share an id both texts are kept, and a second import adds nothing", async (t) => {
	const folder = folderFor(t);
	const file = write(folder, "a.jsonl", [
		header(),
		said(1, "user", text("one")),
		{ ...said(2, "user", text("another")), id: "e1" },
		{ ...said(1, "user", text("the same time")), parentId: "e1" },
	]);
	const store = storeFor(t);
	assert.equal((await store.import({ from: folder })).stored, 3);
	writeFileSync(file, `${readFileSync(file, "utf8")}${JSON.stringify(said(4, "user", text("four")))}\n`);
	assert.equal((await store.import({ from: folder })).stored, 1);
	assert.deepEqual(textsOf(store, "s1"), ["one", "another", "the same time", "four"]);
});

test("a folder that is not there is named", async (t) => {
	const report = await storeFor(t).import({ from: join(folderFor(t), "nowhere") });
	assert.equal(report.files, 0);
	assert.match(JSON.stringify(report), /nowhere/);
});

const real = join(root, "../shared/data/pi-sessions");
const absent = { skip: !existsSync(real) && "the folder of real sessions is not here" };
test("large real files import without an error, and a second time store nothing", absent, async (t) => {
	assert.ok(readdirSync(real).length > 0);
	const store = storeFor(t);
	const first = await store.import({ from: real });
	assert.ok(first.stored > 0);
	assert.deepEqual(
		first.skipped.filter(({ reason }) => /panic|internal/i.test(reason)),
		[],
	);
	const second = await store.import({ from: real });
	assert.equal(second.stored, 0);
});
