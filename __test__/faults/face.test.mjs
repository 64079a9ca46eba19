// The addon's face under hostile hands: whatever comes in, what comes out is an answer or an error with a code.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import { MemoryStore, message, Place, root, sessionFiles, settle } from "./fixture.mjs";

const place = new Place();
after(() => place.clear());
const files = sessionFiles(join(place.dir, "files"), ["one", "two"], 300);
const open = () => new MemoryStore({ path: place.store() });

const fails = () => {
	throw new Error("from inside");
};
const circular = {};
circular.self = circular;
let deep = "x";
for (let level = 0; level < 5000; level++) deep = [deep];
const trap = new Proxy({}, { get: fails, ownKeys: fails });

test("a value of any kind anywhere gives an answer or an error with a code", async () => {
	const values = [undefined, null, true, -1, Number.NaN, 1e308, 10n, "", "x", "\ud800", "a\0b", Symbol("s"), fails, []];
	values.push({}, trap, circular, deep, new Date(Number.NaN), { toJSON: fails }, { toJSON() {} }, { limit: "x" });
	values.push({ limit: Number.NaN, offset: -1 }, { since: 1e300 }, { until: {} }, { exclude: [5] }, { around: 1e30 });
	values.push(
		{ from: 5 },
		{ from: "/dev/null" },
		{ from: "\ud800\0" },
		{ onProgress: 5 },
		{ signal: {} },
		{ message: 1e30 },
	);
	values.push({ id: "\0", startedAt: 1e300 }, { role: "user", content: [null, 5, { type: "text" }], timestamp: 1e300 });
	const codes = new Set(["INVALID_ARGUMENT", "NOT_FOUND"]);
	const store = open();
	store.capture("x", message("x", 1));
	const twoArguments = ["capture", "tail", "search", "read"];
	for (const method of ["begin", "sessions", "projects", "import", "waiting", "forget", "check", ...twoArguments]) {
		for (const first of values) {
			// Without options an import reads the person's own sessions.
			if (
				["import", "waiting"].includes(method) &&
				first !== trap &&
				!first?.from &&
				!first?.onProgress &&
				!first?.signal
			)
				continue;
			for (const second of twoArguments.includes(method) ? values : [undefined]) {
				try {
					await store[method](first, second);
				} catch (error) {
					// What the caller's own code throws is the caller's.
					assert.ok(
						codes.has(error.code) || error.message === "from inside",
						`${method}: ${error.code} ${error.message}`,
					);
				}
			}
		}
	}
	store.close();
});

test("a query of many megabytes is refused, and an entry of many is cut", () => {
	const store = open();
	const long = "zebra 缓存 ".repeat(500_000);
	assert.throws(() => store.search(long), { code: "INVALID_ARGUMENT" });
	assert.throws(() => store.sessions({ query: long }), { code: "INVALID_ARGUMENT" });
	assert.equal(store.capture("s", { role: "user", content: long, timestamp: 1 }).stored, true);
	assert.equal(store.read("s").messages[0].truncated, true);
	store.close();
});

test("a store that is closed amid everything settles every promise", async () => {
	for (const delay of [0, 3, 30]) {
		const store = open();
		const jobs = [store.import({ from: files }), store.check({ repair: true }), store.forget({ since: 0 })];
		await new Promise((resolve) => setTimeout(resolve, delay));
		store.close();
		for (const { reason } of await Promise.allSettled(jobs)) if (reason) assert.equal(reason.code, "CLOSED");
	}
});

test("a store opened and closed a hundred times keeps what each wrote", async () => {
	const path = place.store();
	for (let number = 1; number <= 100; number++) {
		const store = new MemoryStore({ path });
		store.capture("s", message("s", number));
		store.close();
	}
	const again = new MemoryStore({ path });
	assert.equal((await again.stats()).messages, 100);
	again.close();
});

test("a worker thread ended amid an import takes nobody with it", async () => {
	const code = `const { workerData: { path, files } , parentPort } = require("node:worker_threads");
		const { MemoryStore } = require(${JSON.stringify(join(root, "index.js"))});
		const store = new MemoryStore({ path });
		store.import({ from: files, onProgress() {} });
		store.check();
		parentPort.postMessage("at work");
		setInterval(() => {}, 1000);`;
	for (const delay of [0, 20]) {
		const path = place.store();
		const worker = new Worker(code, { eval: true, workerData: { path, files } });
		await new Promise((resolve) => worker.once("message", resolve));
		await new Promise((resolve) => setTimeout(resolve, delay));
		await worker.terminate();
		assert.deepEqual((await settle(path)).problems, []);
	}
});
