// Many processes and a hostile disk: each scenario does something to real processes at work on one store and says what
// it tried and what it found wrong.

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leftovers, MemoryStore, missing, rows, sessionFiles, settle, Worker } from "./fixture.mjs";
import { spoil } from "./steps.mjs";

const longest = (workers) => Math.max(0, ...workers.flatMap(({ said }) => said.flatMap(({ took }) => took ?? [])));
const faultsOf = (workers) => workers.flatMap((worker) => worker.fault ?? []);
const errorsOf = (workers) => workers.flatMap(({ said }) => said.flatMap(({ error }) => error ?? []));

/** Eight processes write at once: nothing lost or doubled, no error, nobody waits for long. */
export async function writers({ place, messages = 1000, count = 8 }) {
	const path = place.store();
	const names = Array.from({ length: count }, (_, at) => `writer${at}`);
	const workers = names.map((name) => new Worker("capture", path, { sessions: [name], messages, linger: 300 }));
	await Promise.all(workers.map(({ ended }) => ended));
	const all = names.flatMap((name) => Array.from({ length: messages }, (_, at) => `${name} ${at + 1}`));
	const wrong = [...faultsOf(workers), ...errorsOf(workers), ...missing(path, all).map((key) => `lost ${key}`)];
	if (rows(path).length !== all.length) wrong.push(`${rows(path).length} rows for ${all.length}`);
	const wait = longest(workers);
	if (wait > 1000) wrong.push(`a writer waited ${wait.toFixed()} ms`);
	const late = workers.flatMap(({ said }) => said.filter(({ handed }) => handed)).length;
	return {
		tried: all.length,
		wrong: [...wrong, ...(await settle(path)).problems],
		note: `longest wait ${wait.toFixed()} ms, ${late} stored in the background`,
	};
}

/** Processes that capture, import and forget on one store are killed at any moment, over and over. */
export async function kills({ place, random, count }) {
	const path = place.store();
	const files = sessionFiles(join(place.dir, "killed"));
	const kept = [];
	const wrong = [];
	for (let round = 0; round < count; round++) {
		const name = `killed${round}`;
		const workers = [
			new Worker("capture", path, { sessions: [name], messages: 1e6 }),
			new Worker("import", path, { from: files }),
			new Worker("import", path, { from: files }),
			new Worker("forget", path, { session: "two" }),
		];
		// From the first capture on: a busy machine takes its time to start a process.
		while (workers[0].kept.length === 0 && workers[0].code === undefined) await sleep(5);
		await sleep(random(500));
		await Promise.all(workers.map((worker) => worker.kill()));
		wrong.push(...faultsOf(workers));
		kept.push(...workers[0].kept);
		wrong.push(...(await settle(path)).problems);
	}
	wrong.push(...missing(path, kept).map((key) => `lost ${key}`));
	await settle(path, files);
	if ((await settle(path, files)).stored > 0) wrong.push("a second import stored something");
	return { tried: count * 4, wrong, note: `${kept.length} captures returned before a kill` };
}

/** Two imports of the same files at once, while another process captures into the same sessions. */
export async function imports({ place, messages = 600 }) {
	const path = place.store();
	const files = sessionFiles(join(place.dir, "imported"), ["one", "two"], messages);
	const workers = [
		new Worker("capture", path, { sessions: ["one", "two", "live"], messages: messages / 2 }),
		new Worker("import", path, { from: files }),
		new Worker("import", path, { from: files }),
	];
	await Promise.all(workers.map(({ ended }) => ended));
	const wrong = [
		...faultsOf(workers),
		...errorsOf(workers),
		...missing(path, workers[0].kept).map((key) => `lost ${key}`),
	];
	const { problems } = await settle(path, files);
	if ((await settle(path, files)).stored > 0) wrong.push("a second import stored something");
	const fresh = place.store();
	await settle(fresh, files);
	const want = rows(fresh);
	const have = rows(path).filter((row) => !row.startsWith("live "));
	wrong.push(...problems, ...want.filter((row, at) => row !== have[at]).map((row) => `differs: ${row.slice(0, 50)}`));
	if (have.length !== want.length) wrong.push(`${have.length} rows for ${want.length}`);
	return { tried: want.length, wrong, note: `longest wait of a capture ${longest(workers).toFixed()} ms` };
}

/** The log stays bounded, and captures quick, under a writer that never pauses, with a reader that never ends. */
export async function log({ place, seconds }) {
	const wrong = [];
	const notes = [];
	for (const reader of [false, true]) {
		const path = place.store();
		new MemoryStore({ path }).close();
		const held = reader && new Worker("hold", path, { seconds });
		if (held) await sleep(300);
		const worker = new Worker("capture", path, { messages: 1e9, seconds });
		let most = 0;
		const watch = setInterval(() => {
			if (existsSync(`${path}-wal`)) most = Math.max(most, statSync(`${path}-wal`).size);
		}, 20);
		await worker.ended;
		clearInterval(watch);
		if (held) await held.kill();
		const wait = longest([worker]);
		notes.push(
			`${reader ? "beside a reader" : "alone"}: ${worker.kept.length} messages, log at most ${(most / 2 ** 20).toFixed(1)} MB, longest wait ${wait.toFixed()} ms`,
		);
		wrong.push(...faultsOf([worker]), ...missing(path, worker.kept).map((key) => `lost ${key}`));
		if (!reader && most > 64 * 2 ** 20) wrong.push(`the log grew to ${most} bytes`);
		if (wait > 1000) wrong.push(`a capture waited ${wait.toFixed()} ms${reader ? " for a reader" : ""}`);
		wrong.push(...(await settle(path)).problems);
	}
	return { tried: 2, wrong, note: notes.join("; ") };
}

/** Processes that capture meet the same damage at once: one repairs, nobody writes into the file set aside. */
export async function damage({ place, count = 3 }) {
	const path = place.store();
	const files = sessionFiles(join(place.dir, "damaged"));
	await settle(path, files);
	const before = rows(path);
	spoil(path);
	const workers = Array.from(
		{ length: count },
		(_, at) => new Worker("capture", path, { sessions: [`meets${at}`], messages: 400, gap: 5 }),
	);
	const repairs = [new Worker("repair", path), new Worker("repair", path)];
	await Promise.all([...workers, ...repairs].map(({ ended }) => ended));
	const wrong = [
		...faultsOf(repairs),
		...missing(
			path,
			workers.flatMap(({ kept }) => kept),
		).map((key) => `lost ${key}`),
	];
	const aside = readdirSync(dirname(path)).filter((name) => /\.corrupt-\d+$/.test(name));
	if (aside.length !== 1) wrong.push(`${aside.length} files set aside`);
	wrong.push(...leftovers(path).map((name) => `left behind: ${name}`));
	const { problems } = await settle(path, files);
	const back = rows(path).filter((row) => !row.startsWith("meets"));
	if (back.length < before.length) wrong.push(`${back.length} of ${before.length} messages after an import again`);
	return {
		tried: workers.length + repairs.length,
		wrong: [...wrong, ...problems],
		note: `${workers.flatMap(({ kept }) => kept).length} captures returned meanwhile`,
	};
}

/** The database is deleted, or another put in its place, while processes write: they go on in what is there now. */
export async function replaced({ place }) {
	const wrong = [];
	for (const how of ["deleted", "deleted alone", "replaced"]) {
		const path = place.store();
		const worker = new Worker("capture", path, { messages: 300, gap: 2 });
		while (worker.kept.length < 50) await sleep(5);
		const other = place.store();
		await settle(other, sessionFiles(join(place.dir, "other")));
		if (how === "replaced") renameSync(other, path);
		for (const suffix of how === "deleted" ? ["", "-wal", "-shm"] : how === "replaced" ? ["-wal", "-shm"] : [""])
			rmSync(path + suffix, { force: true });
		const since = worker.kept.length;
		await worker.ended;
		wrong.push(...faultsOf([worker]));
		// What was kept a moment before may have gone with the file.
		wrong.push(...missing(path, worker.kept.slice(since + 20)).map((key) => `${how}: lost ${key}`));
		wrong.push(...(await settle(path)).problems.map((problem) => `${how}: ${problem}`));
	}
	return { tried: 3, wrong };
}

/** A folder that refuses: an error of the disk, and memory once it does not. */
export async function refused({ place }) {
	if (process.platform === "win32") return { tried: 0, wrong: [] };
	const wrong = [];
	const folder = join(dirname(place.store()), "refusing");
	mkdirSync(folder);
	const path = join(folder, "sessions.db");
	const uid = process.getuid() === 0 ? 65534 : undefined;
	if (uid) for (const above of [place.dir, dirname(folder)]) chmodSync(above, 0o755);
	chmodSync(folder, 0o555);
	const refusing = new Worker("capture", path, {}, { uid });
	await sleep(400);
	if (existsSync(path)) wrong.push("a file was made in a folder that refuses");
	if (uid) chmodSync(folder, 0o777);
	else chmodSync(folder, 0o755);
	await refusing.ended;
	if (!refusing.said.some(({ error }) => error === "IO")) {
		const retried = new Worker("capture", path, {}, { uid });
		await retried.ended;
		if (!retried.done) wrong.push(`never recovered: ${retried.fault}`);
	}
	const errors = errorsOf([refusing]);
	if (errors.some((error) => error !== "IO")) wrong.push(`errors other than the disk's: ${errors}`);
	return { tried: 1, wrong };
}

/** A real full disk: captures fail as the disk's fault, and go on once there is room. */
export async function full({ place }) {
	if (process.platform !== "linux") return { tried: 0, wrong: [] };
	const mount = dirname(place.store());
	const path = join(mount, "sessions.db");
	const wrap = ["unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=64m none '${mount}' && exec "$@"`, "sh"];
	const worker = new Worker("full", path, { mount }, { wrap });
	await worker.ended;
	if (/unshare|mount/.test(worker.errors))
		return { tried: 0, wrong: [], note: "no file system of our own can be mounted here" };
	const [end] = worker.said.filter(({ full }) => full);
	const wrong = faultsOf([worker]);
	if (end) wrong.push(...end.wrong);
	return { tried: 1, wrong, note: end && `${end.refused} captures refused, ${end.kept} kept` };
}

/** Everything at once for a while: captures, imports, searches, checks, forgetting, processes that come and go. */
export async function soak({ place, random, seconds }) {
	const path = place.store();
	const files = sessionFiles(join(place.dir, "soaked"), ["one", "two"], 200);
	const until = performance.now() + seconds * 1000;
	const [kept, wrong, workers] = [[], [], []];
	let [round, killed, most] = [0, 0, 0];
	const lane = async (work) => {
		while (performance.now() < until) await work(++round);
	};
	const run = async (name, plan, chanceToDie) => {
		const worker = new Worker(name, path, plan);
		if (chanceToDie && random(3) === 0) {
			await sleep(200 + random(1500));
			killed++;
			await worker.kill();
		}
		await worker.ended;
		wrong.push(...faultsOf([worker]), ...errorsOf([worker]).filter((error) => error !== "BUSY"));
		workers.push({ said: worker.said.filter(({ took }) => took > 100) });
		if (name === "capture") kept.push(...worker.kept);
		if (existsSync(`${path}-wal`)) most = Math.max(most, statSync(`${path}-wal`).size);
	};
	const capture = (round) => run("capture", { sessions: [`soak${round}`], messages: 400, gap: random(4) }, true);
	await Promise.all([
		lane(capture),
		lane(capture),
		lane((round) => {
			writeFileSync(join(files, "touched.jsonl"), "");
			return run(round % 2 ? "import" : "forget", { from: files, session: "fork" }, true);
		}),
		lane(() => run("look", { seconds: 1 }, false)),
	]);
	wrong.push(...missing(path, kept).map((key) => `lost ${key}`), ...(await settle(path, files)).problems);
	const wait = longest(workers);
	if (wait > 1000) wrong.push(`a capture waited ${wait.toFixed()} ms`);
	return {
		tried: round,
		wrong,
		note: `${kept.length} captures, ${killed} processes killed, log at most ${(most / 2 ** 20).toFixed(1)} MB, longest wait ${wait.toFixed()} ms`,
	};
}
