// How soon /recall is there and how soon it follows the keys, in the real pi in a pseudo-terminal.
// node bench/screen.mjs [messages]       (wants the release addon: npm run build)
// node bench/screen.mjs --store COPY.db  measures on a store that is there; give a copy.
// Without a store one is filled with that many generated messages first, a million by default, in sessions of fifty.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodeForPi, root, run } from "../scripts/setup.mjs";

const node = nodeForPi();
if (node !== process.execPath) {
	run(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
	process.exit();
}

const { Home } = await import("../__test__/host/pi.mjs");
const { Terminal, KEYS } = await import("../__test__/terminal/terminal.mjs");
const { values, positionals } = parseArgs({ options: { store: { type: "string" } }, allowPositionals: true });
const MESSAGES = Number(positionals[0] ?? 1_000_000);
const SESSION = 50;
const OPENINGS = 10;
/** After this much silence a screen counts as painted. */
const QUIET_MS = 150;
/** What pi writes at the end of a frame. */
const FRAME_END = "\u001b[?2026l";
/** A key after which nothing has come for this long changes nothing on the screen. */
const PATIENCE_MS = 2_000;
const QUERIES = [
	"shard the cache",
	"缓存分片方案",
	"port 8080 taken",
	"签证材料",
	"consistent hash ring",
	"qzh",
	"a b c",
];

/** The most frequent made-up words, so that the queries find something, rare and common. */
const WORDS = "the a to of and in is it that for shard cache port taken hash ring consistent key file test".split(" ");

const home = new Home(mkdtempSync(join(tmpdir(), "pi-memory-screen-")));
try {
	if (!values.store) await fill();
	const env = values.store ? { PI_MEMORY_DB: resolve(values.store) } : {};
	const terminal = await Terminal.open(home, { cols: 120, rows: 40, env });
	const opens = [];
	const pressed = [];
	for (let n = 0; n < OPENINGS; n++) {
		await terminal.send("/recall");
		opens.push(await painted(terminal, KEYS.enter, "all projects"));
		for (const char of QUERIES[n % QUERIES.length]) pressed.push(await painted(terminal, char));
		for (let down = 0; down < 5; down++) pressed.push(await painted(terminal, KEYS.down));
		await terminal.send(KEYS.escape);
	}
	await terminal.end();
	// Some keys change nothing.
	const keys = pressed.filter((times) => times !== undefined);
	const what = values.store ?? `${MESSAGES.toLocaleString("en")} messages`;
	console.log(`${what}; first opening ${opens[0].first.toFixed(0)} ms`);
	report(
		`open to first paint (later ${OPENINGS - 1})`,
		opens.slice(1).map(({ first }) => first),
	);
	report(
		"open to the last thing painted",
		opens.slice(1).map(({ last }) => last),
	);
	report(
		`key to painted result list (${keys.length} keys)`,
		keys.map(({ first }) => first),
	);
	report(
		"key to the last thing painted, the reading view among it",
		keys.map(({ last }) => last),
	);
} finally {
	rmSync(home.dir, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Sends a key; milliseconds to the end of the first frame that pi then writes (the first with `sign` in it) and to the
 * last thing it writes, or nothing where it writes nothing.
 */
async function painted(terminal, key, sign = "") {
	const start = performance.now();
	let first;
	let written = "";
	const listening = terminal.pty.onData((data) => {
		written += data;
		if (written.includes(sign) && written.indexOf(FRAME_END, written.indexOf(sign)) >= 0) {
			first ??= performance.now() - start;
		}
	});
	terminal.pty.write(key);
	for (;;) {
		await sleep(5);
		const since = performance.now() - Math.max(start, terminal.lastAt);
		if (since > (first === undefined ? PATIENCE_MS : QUIET_MS)) break;
	}
	listening.dispose();
	return first === undefined ? undefined : { first, last: terminal.lastAt - start };
}

function report(name, values) {
	const sorted = values.toSorted((a, b) => a - b);
	const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
	console.log(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms`);
}

/** Sessions of made-up talk: words as unevenly spread as real ones, in two scripts. */
async function fill() {
	const { MemoryStore } = createRequire(import.meta.url)(join(root, "index.js"));
	const store = new MemoryStore({ path: home.db });
	const random = generator(42);
	const word = () => {
		const rank = Math.floor(Math.exp(random() * Math.log(40_000)));
		return rank % 3 === 0 ? String.fromCodePoint(0x4e00 + (rank % 6_000)) : (WORDS[rank] ?? `w${rank.toString(36)}`);
	};
	const start = Date.now() - 400 * 86_400_000;
	for (let session = 0; session * SESSION < MESSAGES; session++) {
		const id = `bench-${String(session).padStart(8, "0")}`;
		const name = session % 10 === 0 ? `${word()} ${word()} 签证` : undefined;
		const startedAt = start + session * 60_000;
		store.begin({ id, cwd: `/bench/project-${session % 50}`, startedAt, name });
		for (let n = 0; n < SESSION && session * SESSION + n < MESSAGES; n++) {
			const text = Array.from({ length: 12 + (rankOf(random) % 60) }, word).join(" ");
			store.capture(id, {
				role: n % 2 ? "assistant" : "user",
				content: [{ type: "text", text }],
				timestamp: startedAt + n,
			});
		}
	}
	store.close();
}

function rankOf(random) {
	return Math.floor(random() * 1_000);
}

/** A small generator of even numbers in [0, 1), the same every time. */
function generator(seed) {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}
