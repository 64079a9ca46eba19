// npm run bench: how well and how fast it finds, how fast it stores, how much room it takes, beside others. It prints one page and
// writes it, as Markdown and as a chart, below target/bench/.
//
//   -- --shared FOLDER    labelled sets (data/qrels), books (data/corpus) and the others' adapters (eval/), for quality and peers;
//                         the page goes to docs/, the table into the readmes
//   -- --sessions FOLDER  on your own session files; none of their text is printed
//   -- --quick            small and with a quickly built addon: whether all of it works; its times mean nothing
//   -- --messages N       of the large store, a million by default; 0 leaves it out
//
// It ends with 1 when a figure misses its bound, but for --quick and --sessions.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
	asked,
	books,
	labelled,
	longestWord,
	made,
	mixed,
	questionsFrom,
	sample,
	writeSessions,
} from "../bench/messages.mjs";
import { chart, insertTable, page, verdicts } from "../bench/page.mjs";
import { buildForTests, buildRelease } from "./addon.mjs";
import { continueOnNodeForPi, fail, root, run } from "./setup.mjs";

// The others run on node:sqlite, which wants a newer Node than this package does.
continueOnNodeForPi(import.meta.url);

const { values: options } = parseArgs({
	options: {
		shared: { type: "string" },
		sessions: { type: "string" },
		quick: { type: "boolean", default: false },
		messages: { type: "string" },
	},
});
const { quick } = options;
const shared = options.shared && resolve(options.shared);
const own = options.sessions && resolve(options.sessions);
for (const folder of [shared, own]) if (folder && !existsSync(folder)) fail(`there is no folder ${folder}`);

/** Messages of the two stores, questions of a labelled set, messages captured, first questions asked. */
const SMALL = quick ? 2_000 : 37_500;
const LARGE = Number(options.messages ?? (quick ? 6_000 : 1_000_000));
const QUESTIONS = quick ? 20 : 400;
const CAPTURED = quick ? 100 : 3_000;
const COLD = quick ? 2 : 20;
const SCANS = quick ? 3 : 20;

const addon = process.env.PI_MEMORY_ADDON ?? (quick ? buildForTests() : buildRelease());
const folder = mkdtempSync(join(tmpdir(), "pi-memory-bench-"));
// The others' own temporary files go there too.
const env = { ...process.env, PI_MEMORY_ADDON: addon, PI_MEMORY_SESSIONS: root, TMPDIR: folder };
const began = performance.now();
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const figures = {
	date: new Date().toISOString().slice(0, 10),
	quick,
	on: own ? "sessions" : shared ? "shared" : "made",
};
figures.stores = own ? ownStore() : stores();
figures.capture = captures();
figures.quality = shared && !own ? quality() : [];
figures.machine = machine();
figures.versions = versions();
figures.minutes = (performance.now() - began) / 60_000;
figures.verdicts = quick || own ? [] : verdicts(figures);

const written = page(figures);
console.log(`\n${written}`);
const publish = shared && !own && !quick;
const to = publish ? join(root, "docs") : join(root, "target/bench");
mkdirSync(to, { recursive: true });
writeFileSync(join(to, "bench.md"), written);
writeFileSync(join(to, "bench.svg"), chart(figures));
if (!publish) writeFileSync(join(to, "figures.json"), JSON.stringify(figures));
if (publish) {
	for (const name of ["README.md", "README.zh-CN.md"]) {
		const file = join(root, name);
		writeFileSync(file, insertTable(readFileSync(file, "utf8"), figures, name.includes("zh") ? "zh" : "en"));
	}
	const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
	if (existsSync(biome))
		run(process.execPath, [biome, "format", "--write", "docs/bench.md", "README.md", "README.zh-CN.md"]);
}
console.log(`wrote ${join(to, "bench.md")} and bench.svg`);
if (figures.verdicts.some(({ kept }) => !kept)) process.exitCode = 1;

/** A step in a process of its own. */
function work(task, settings) {
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		["--no-warnings", join(root, "bench/worker.mjs"), task, JSON.stringify(settings)],
		{
			env,
			encoding: "utf8",
			maxBuffer: 1 << 28,
		},
	);
	if (status !== 0) fail(`bench: ${task} failed\n${stderr}`);
	return JSON.parse(stdout.trim().split("\n").at(-1));
}

function say(what) {
	console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`);
}

/** The small store and the large one, which holds all of the small one: both are asked the same. */
function stores() {
	let [base, questions] = [[], []];
	if (shared) {
		const sets = labelled(join(shared, "data/qrels"), QUESTIONS);
		base = [...sets.messages, ...books(join(shared, "data/corpus"))];
		questions = sets.questions;
		if (quick) base = sample(base, SMALL);
	} else {
		base = [...made(SMALL)];
		questions = questionsFrom(base, QUESTIONS);
	}
	writeFileSync(join(folder, "questions.json"), JSON.stringify(asked(questions, base)));
	writeFileSync(join(folder, "questions.txt"), oneLine(questions));
	writeFileSync(join(folder, "texts.json"), JSON.stringify(sample(base, CAPTURED).map(({ text }) => text)));
	const more = Math.max(0, LARGE - base.length);
	const parts = shared ? base.filter(({ project }) => project === "books") : base;
	const large = () => joined(base, shared ? mixed(parts, more) : made(more, 43));
	return (more > 0 ? [base, large()] : [base]).map((messages, n) => {
		say(`writing ${n === 0 ? "the small" : "the large"} store's session files`);
		const sessions = join(folder, `sessions-${n}`);
		const text = writeSessions(sessions, messages);
		const store = measure(sessions, n, (imported) => ({ ...text, imported }));
		rmSync(sessions, { recursive: true });
		return store;
	});
}

function* joined(first, second) {
	yield* first;
	yield* second;
}

/** A person's session files, and questions in their words. */
function ownStore() {
	return [
		measure(own, 0, (imported, db) => {
			if (imported.stored === 0) fail(`no message in ${own}`);
			const to = join(folder, "read.json");
			const { messages, bytes } = work("read", { db, to, keep: 5_000 });
			const kept = JSON.parse(readFileSync(to, "utf8"));
			const questions = questionsFrom(kept, QUESTIONS);
			writeFileSync(join(folder, "questions.json"), JSON.stringify(asked(questions, kept)));
			writeFileSync(join(folder, "questions.txt"), oneLine(questions));
			writeFileSync(join(folder, "texts.json"), JSON.stringify(sample(kept, CAPTURED).map(({ text }) => text)));
			// Branches that were left are not read back: as if they were like the others.
			return { messages: imported.stored, bytes: (bytes / messages) * imported.stored, imported };
		}),
	];
}

function oneLine(questions) {
	return questions.map(({ query }) => query.replaceAll(/\s+/g, " ")).join("\n");
}

/** Imports session files, asks, and lets Tantivy and ripgrep do the same. */
function measure(sessions, number, describe) {
	say("importing");
	const db = join(folder, `store-${number}`, "sessions.db");
	mkdirSync(join(db, ".."));
	const store = describe(work("import", { db, from: sessions }), db);
	say(`searching ${store.messages} messages`);
	const asked = work("search", { db, questions: join(folder, "questions.json") });
	store.search = Object.fromEntries(Object.entries(asked).map(([kind, { times }]) => [kind, spread(times)]));
	store.search.all = spread(Object.values(asked).flatMap(({ times }) => times));
	store.answered = asked.plain.answered / Math.max(1, asked.plain.times.length);
	const { plain } = JSON.parse(readFileSync(join(folder, "questions.json"), "utf8"));
	const cold = sample(plain, COLD).map(({ query }) => work("cold", { db, query }));
	store.cold = { first: spread(cold.map(({ first }) => first)), whole: spread(cold.map(({ whole }) => whole)) };
	rmSync(join(db, ".."), { recursive: true });
	store.tantivy = quick ? undefined : tantivy(sessions);
	store.scan = scan(sessions, sample(plain, SCANS));
	return store;
}

/** The limit: what an engine takes that only ranks. */
function tantivy(sessions) {
	say("the same in Tantivy");
	const index = join(folder, "tantivy");
	mkdirSync(index);
	const home = join(root, "bench/tantivy");
	const args = ["run", "--release", "--quiet", "--", sessions, join(folder, "questions.txt"), index];
	const { status, stdout, error } = spawnSync(process.env.CARGO ?? "cargo", args, {
		cwd: home,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "inherit"],
		maxBuffer: 1 << 28,
	});
	rmSync(index, { recursive: true });
	if (error || status !== 0) return undefined;
	const { times, ...rest } = JSON.parse(stdout);
	return { ...rest, ...spread(times) };
}

/** What a person without any index does: ripgrep for one word of the question, over the session files. */
function scan(sessions, questions) {
	if (spawnSync("rg", ["--version"]).error) return undefined;
	say("the same with ripgrep");
	const times = questions.map(({ query }) => {
		const args = ["--fixed-strings", "--ignore-case", "--count", "--", longestWord(query) || query, sessions];
		const start = performance.now();
		spawnSync("rg", args, { stdio: "ignore" });
		return performance.now() - start;
	});
	return spread(times);
}

/** Storing one message at a time, five at once and then a pause, as pi does; the other is 1.x's pipeline. */
function captures() {
	const adapters = [["pi-memory-sessions", undefined]];
	if (shared) adapters.push(["design note", join(shared, "eval/adapters/seed-design.mjs")]);
	return adapters.map(([name, adapter], n) => {
		say(`capturing: ${name}`);
		const db = join(folder, `capture-${n}`);
		mkdirSync(db);
		const { times } = work("capture", { db, adapter, texts: join(folder, "texts.json"), burst: 5, gap: 50 });
		return { name, ...spread(times.map((ms) => ms * 1000)) };
	});
}

/** Questions with known answers, to this package and to the others, by the harness that comes with the sets. */
function quality() {
	const adapters = join(shared, "eval/adapters");
	const names = ["pi-memory-sessions", "seed-design", "fts5-porter", "fts5-trigram"];
	return names
		.filter((name) => existsSync(join(adapters, `${name}.mjs`)))
		.map((name) => {
			say(`asking labelled questions: ${name}`);
			const json = join(folder, "quality.json");
			const args = ["--adapter", join(adapters, `${name}.mjs`), "--sets", join(shared, "data/qrels")];
			if (!quick) args.push("--hay", join(shared, "data/corpus"));
			const { status, stderr } = spawnSync(
				process.execPath,
				["--no-warnings", join(shared, "eval/run.mjs"), ...args, "--limit", `${QUESTIONS}`, "--json", json],
				{ env, encoding: "utf8" },
			);
			if (status !== 0) fail(`bench: ${name} failed\n${stderr}`);
			for (const left of readdirSync(folder).filter((left) => left.startsWith("eval-")))
				rmSync(join(folder, left), { recursive: true });
			return { name, ...JSON.parse(readFileSync(json, "utf8")) };
		});
}

function spread(values) {
	const sorted = values.toSorted((a, b) => a - b);
	const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
	return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) };
}

function machine() {
	const [{ model } = { model: "unknown processor" }] = cpus();
	return `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release().split("-")[0]} ${process.arch}`;
}

function versions() {
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const commit = said("git", ["rev-parse", "--short", "HEAD"]);
	const locked = existsSync(join(root, "bench/tantivy/Cargo.lock"))
		? readFileSync(join(root, "bench/tantivy/Cargo.lock"), "utf8")
		: "";
	return {
		"pi-memory-sessions": commit ? `${version} (${commit})` : version,
		Node: process.versions.node,
		"Node's SQLite": process.versions.sqlite,
		Tantivy: /name = "tantivy"\nversion = "([^"]+)"/.exec(locked)?.[1],
		ripgrep: /ripgrep (\S+)/.exec(said("rg", ["--version"]))?.[1],
	};
}

function said(command, args) {
	return spawnSync(command, args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
}
