// Stores, session files and stores of the JavaScript edition to do harm to, and what is true of them afterwards.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const root = dirname(dirname(here));
export const { MemoryStore } = createRequire(import.meta.url)(join(root, "index.js"));

const START = Date.parse("2026-10-15T14:00:00Z");
const WORDS =
	"zebra 缓存索引 sharding 签证材料 the write-ahead log 响应式 src/store/open.rs すべての設定 한국어 검색 C++".split(
		" ",
	);

/** Repeatable chance (mulberry32): a number below `most`. */
export function chance(seed) {
	let state = seed >>> 0;
	return (most) => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most);
	};
}

/** The text of a session's message; each is told apart by its key. */
export function text(session, number) {
	const words = Array.from({ length: 20 + (number % 30) }, (_, at) => WORDS[(number * 7 + at * 3) % WORDS.length]);
	return `${session} ${number} says ${words.join(" ")}`;
}

/** The message as pi's message_end carries it. */
export function message(session, number) {
	const timestamp = START + number * 1000;
	const content = [{ type: "text", text: text(session, number) }];
	return number % 2 ? { role: "user", content, timestamp } : { role: "assistant", content, timestamp };
}

/** A folder of session files of `messages` messages each, the last a fork of the first; its path. */
export function sessionFiles(folder, sessions = ["one", "two"], messages = 60) {
	mkdirSync(folder, { recursive: true });
	const line = (value) => `${JSON.stringify(value)}\n`;
	const iso = (number) => new Date(START + number * 1000).toISOString();
	const entries = (session) =>
		Array.from({ length: messages }, (_, at) => ({
			type: "message",
			id: `${session}-${at + 1}`,
			parentId: at === 0 ? null : `${session}-${at}`,
			timestamp: iso(at + 1),
			message: message(session, at + 1),
		}));
	const write = (session, lines, more = {}) => {
		const header = { type: "session", version: 3, id: session, timestamp: iso(0), cwd: `/code/${session}`, ...more };
		writeFileSync(join(folder, `2026-10-15T14-00-00-000Z_${session}.jsonl`), [header, ...lines].map(line).join(""));
	};
	for (const session of sessions) write(session, entries(session));
	const copied = entries(sessions[0]).slice(0, Math.ceil(messages / 4));
	const own = {
		type: "message",
		id: "own",
		parentId: copied.at(-1).id,
		timestamp: iso(900),
		message: message("fork", 900),
	};
	write("fork", [...copied, own], { parentSession: join(folder, `2026-10-15T14-00-00-000Z_${sessions[0]}.jsonl`) });
	return folder;
}

/** A folder for one suite; it goes with `clear`. */
export class Place {
	dir = mkdtempSync(join(tmpdir(), "pi-memory-faults-"));
	#count = 0;

	/** A new folder of its own, its store's path. */
	store() {
		const folder = join(this.dir, `${++this.#count}`);
		mkdirSync(folder);
		return join(folder, "sessions.db");
	}

	clear() {
		rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
	}
}

/** Copies a closed store with its log; returns the new path. */
export function copyStore(from, to) {
	for (const suffix of ["", "-wal"]) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
	return to;
}

/** Node's own SQLite, to look behind the addon's back. Only while no store is open in this process. */
export function behind(path, work) {
	const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite");
	const database = new DatabaseSync(path);
	try {
		return work(database);
	} finally {
		database.close();
	}
}

const ROWS = `select s.key || ' ' || m.seq || ' ' || coalesce(m.entry, '-') || ' ' || m.role || ' ' || m.ts || ' ' || coalesce(m.text, o.text) as row
	from msg m join session s on s.id = m.session left join msg o on o.id = m.origin order by s.key, m.seq`;

/** Every row of a store: session, seq, entry id, role, time, text. */
export const rows = (path) =>
	behind(path, (database) =>
		database
			.prepare(ROWS)
			.all()
			.map(({ row }) => row),
	);

/** How often the store holds each text. */
export function texts(path) {
	const counts = new Map();
	const sql =
		"select coalesce(m.text, o.text) as text, s.key from msg m join session s on s.id = m.session left join msg o on o.id = m.origin";
	for (const { text, key } of behind(path, (database) => database.prepare(sql).all())) {
		const name = `${key}: ${text}`;
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return counts;
}

/** What of `kept` ("session number") the store lost or doubled. */
export function missing(path, kept) {
	const counts = texts(path);
	return kept.filter((key) => {
		const [session, number] = key.split(" ");
		return counts.get(`${session}: ${text(session, Number(number))}`) !== 1;
	});
}

/** Imports and checks in this process; what the check found wrong. */
export async function settle(path, from, repair = false) {
	const store = new MemoryStore({ path });
	try {
		if (repair) await store.check({ repair });
		const report = from && (await store.import({ from }));
		const deadline = performance.now() + 60_000;
		while (!store.search("zebra").complete && performance.now() < deadline)
			await new Promise((ok) => setTimeout(ok, 5));
		const health = await store.check();
		return { problems: health.problems, stored: report?.stored ?? 0, skipped: report?.skipped ?? [] };
	} finally {
		store.close();
	}
}

/** The preloaded library that counts and disturbs disk requests; nothing where it cannot be made. */
export function stepLibrary(folder) {
	if (process.platform !== "linux") return undefined;
	const library = join(folder, "step.so");
	const made = spawnSync(process.env.CC ?? "cc", [
		"-shared",
		"-fPIC",
		"-O1",
		"-o",
		library,
		join(here, "step.c"),
		"-ldl",
	]);
	return made.status === 0 ? library : undefined;
}

/** A worker at work. */
export class Worker {
	said = [];

	constructor(name, path, plan = {}, { env = {}, uid, wrap } = {}) {
		const command = [
			...(wrap ?? []),
			process.execPath,
			"--disable-warning=ExperimentalWarning",
			join(here, "worker.mjs"),
			name,
			path,
			JSON.stringify(plan),
		];
		this.child = spawn(command[0], command.slice(1), {
			env: { ...process.env, ...env },
			uid,
			stdio: ["ignore", "pipe", "pipe"],
		});
		this.errors = "";
		let rest = "";
		this.child.stdout.setEncoding("utf8").on("data", (chunk) => {
			const lines = (rest + chunk).split("\n");
			rest = lines.pop();
			for (const line of lines) this.said.push(JSON.parse(line));
		});
		this.child.stderr.setEncoding("utf8").on("data", (chunk) => {
			this.errors += chunk;
		});
		this.ended = once(this.child, "close").then(([code, signal]) => {
			this.code = code;
			this.signal = signal;
			return this;
		});
	}

	kill() {
		this.child.kill("SIGKILL");
		return this.ended;
	}

	get kept() {
		return this.said.flatMap(({ kept }) => kept ?? []);
	}

	get done() {
		return this.said.some(({ done }) => done);
	}

	/** It neither crashed by itself nor failed: what it said last when it did. */
	get fault() {
		const wanted = this.signal === "SIGKILL" || (this.code === 0 && this.done);
		return wanted
			? undefined
			: `${this.signal ?? `exit ${this.code}`}: ${this.errors.slice(-400)} ${JSON.stringify(this.said.slice(-3))}`;
	}
}

/** Names beside a store that a repair left behind half done. */
export function leftovers(path) {
	const known = /^sessions\.db(-wal|-shm|-journal|-repair|\.corrupt-\d+(-wal|-shm|-journal)?)?$/;
	return readdirSync(dirname(path)).filter((name) => !known.test(name));
}

/** The bytes of the database and its log. */
export function bytes(path) {
	return Buffer.concat(
		["", "-wal"].filter((suffix) => existsSync(path + suffix)).map((suffix) => readFileSync(path + suffix)),
	);
}
