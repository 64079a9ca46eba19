// One measurement in a process of its own: node worker.mjs TASK '{"…": …}'. It prints one JSON object, and never any text.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const [, , task, options] = process.argv;
const TASKS = { import: importFiles, search, cold, capture, read };
console.log(JSON.stringify(await TASKS[task](JSON.parse(options))));

function open(path) {
	const { MemoryStore } = require("../index.js");
	return new MemoryStore({ path });
}

/** Imports a folder of session files into a new store. */
async function importFiles({ db, from }) {
	const store = open(db);
	const start = performance.now();
	const { files, sessions, stored, bytes, skipped } = await store.import({ from });
	const ms = performance.now() - start;
	store.close();
	return { files, sessions, stored, read: bytes, skipped: skipped.length, ms, size: sizeOf(db) };
}

/** Asks every question twice, and times the second. */
function search({ db, questions }) {
	const store = open(db);
	const result = {};
	for (const [kind, list] of Object.entries(JSON.parse(readFileSync(questions, "utf8")))) {
		const ask = ({ query, options }) => store.search(query, options).hits.length > 0;
		for (const question of list) ask(question);
		const times = [];
		let answered = 0;
		for (const question of list) {
			const start = performance.now();
			answered += ask(question);
			times.push(performance.now() - start);
		}
		result[kind] = { answered, times };
	}
	store.close();
	return result;
}

/** The first question of a process: from loading the addon on, and since the process began. */
function cold({ db, query }) {
	const start = performance.now();
	open(db).search(query);
	const end = performance.now();
	return { first: end - start, whole: end };
}

/** Stores messages one by one, a few at once and then a pause, as pi does. */
async function capture({ db, adapter, texts, burst, gap }) {
	const store = adapter ? await peer(adapter, db) : own(db);
	const times = [];
	for (const [n, text] of JSON.parse(readFileSync(texts, "utf8")).entries()) {
		const session = `s${Math.floor(n / 200)}`;
		const message = {
			id: `${n}`,
			session,
			project: "p",
			ts: 1.7e12 + n * 1000,
			role: n % 2 ? "assistant" : "user",
			text,
		};
		const start = performance.now();
		store.capture(message);
		times.push(performance.now() - start);
		if (n % burst === burst - 1) await sleep(gap);
	}
	store.close();
	return { times };
}

async function peer(adapter, folder) {
	const { default: made } = await import(pathToFileURL(adapter).href);
	return made.open(folder);
}

function own(folder) {
	const store = open(join(folder, "sessions.db"));
	const begun = new Set();
	return {
		capture({ session, role, text, ts }) {
			if (!begun.has(session)) store.begin({ id: session, cwd: "/bench/p", startedAt: ts });
			begun.add(session);
			store.capture(session, { role, content: [{ type: "text", text }], timestamp: ts });
		},
		close: () => store.close(),
	};
}

/** Reads a store back, each session's last branch: how much text that is, and some of its messages into a file of their own. */
async function read({ db, to, keep }) {
	const store = open(db);
	const PAGE = 100;
	const { messages: count } = await store.stats();
	const every = Math.max(1, Math.floor(count / keep));
	const kept = [];
	let [messages, bytes] = [0, 0];
	for (let offset = 0; ; offset += PAGE) {
		const sessions = store.sessions({ limit: PAGE, offset });
		for (const { id, cwd } of sessions) {
			for (const { text } of store.read(id, { before: count, after: 0 }).messages) {
				bytes += Buffer.byteLength(text);
				if (messages++ % every === 0) kept.push({ text, project: cwd });
			}
		}
		if (sessions.length < PAGE) break;
	}
	store.close();
	writeFileSync(to, JSON.stringify(kept));
	return { messages, bytes };
}

/** Bytes of a database and its side files. */
function sizeOf(db) {
	const folder = join(db, "..");
	return readdirSync(folder)
		.filter((name) => join(folder, name).startsWith(db))
		.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
