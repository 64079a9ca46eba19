// Faults at every step: each request an operation makes of the disk is one at which it is killed, killed half-way
// through a write, or refused. Then the store is opened again and held against what it must hold.

import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
	behind,
	bytes,
	copyStore,
	leftovers,
	MemoryStore,
	message,
	missing,
	rows,
	sessionFiles,
	settle,
	text,
	texts,
	Worker,
} from "./fixture.mjs";

const FAULTS = [
	{ what: "kill", says: "killed" },
	{ what: "torn", says: "killed within a write" },
	{ what: "ENOSPC", times: 3, says: "disk full for a moment" },
	{ what: "EIO", times: 1, says: "one failing write" },
];

/** The operations: how a store is prepared, what is done to it, and what must be true of it then. */
export const OPERATIONS = {
	capture: {
		run: "capture",
		prepare: () => ({ messages: 6 }),
		async verify({ path, worker }) {
			const lost = missing(path, worker.kept);
			const known = new Set(Array.from({ length: 6 }, (_, at) => `live: ${text("live", at + 1)}`));
			const strange = [...texts(path).keys()].filter((name) => !known.has(name));
			return [...lost.map((key) => `lost ${key}`), ...strange.map((name) => `never said: ${name}`)];
		},
	},
	import: {
		run: "import",
		async prepare({ path, files }) {
			const store = new MemoryStore({ path });
			for (const number of [1, 2, 5, 40, 61]) store.capture("one", message("one", number));
			store.close();
			return { from: files };
		},
		async verify({ path, files, fresh }) {
			const lost = missing(path, ["one 1", "one 2", "one 5", "one 40", "one 61"]).map((key) => `lost ${key}`);
			await settle(path, files);
			const again = await settle(path, files);
			if (again.stored > 0) lost.push(`a second import stored ${again.stored}`);
			const late = `one 61 - 0 ${Date.parse("2026-10-15T14:01:01Z")} ${text("one", 61)}`;
			return [...lost, ...differences(rows(path), [...fresh, late])];
		},
	},
	upgrade: {
		run: "upgrade",
		prepare({ path }) {
			oldStore(path);
			return {};
		},
		async verify({ path, files, fresh }) {
			const wrong = missing(
				path,
				Array.from({ length: 60 }, (_, at) => `one ${at + 1}`),
			).map((key) => `lost ${key}`);
			const ids = behind(path, (database) =>
				database
					.prepare("select id from msg order by seq")
					.all()
					.map(({ id }) => id),
			);
			if (ids.some((id, at) => id !== at + 11)) wrong.push("ids changed");
			const { stored } = await settle(path, join(files, "2026-10-15T14-00-00-000Z_one.jsonl"));
			if (stored > 0) wrong.push(`the same file read again stored ${stored}`);
			return [
				...wrong,
				...differences(
					rows(path),
					fresh.filter((row) => row.startsWith("one ")),
				),
			];
		},
	},
	repair: {
		run: "repair",
		async prepare({ path, files }) {
			await filled(path, files);
			spoil(path);
			return {};
		},
		/** What a repair that nobody disturbs saves, this one saves, too. */
		async verify({ path, files, fresh, undisturbed }) {
			const saved = new Set(rows(path));
			const wrong = undisturbed
				.filter((row) => wasThere(row) && !saved.has(row))
				.map((row) => `not saved: ${row.slice(0, 40)}`);
			wrong.push(...leftovers(path).map((name) => `left behind: ${name}`));
			await settle(path, files);
			const back = texts(path);
			const gone = fresh.filter(
				(row) => ![...back.keys()].some((name) => row.endsWith(name.slice(name.indexOf(": ") + 2))),
			);
			return [...wrong, ...gone.map((row) => `not brought back: ${row.slice(0, 40)}`)];
		},
	},
	reindex: {
		run: "repair",
		async prepare({ path, files }) {
			await filled(path, files);
			behind(path, (database) => {
				database.enableDefensive?.(false);
				database.exec("delete from term_data where id > 1000");
			});
			return {};
		},
		async verify({ path, files, fresh }) {
			await settle(path, files, true);
			const { problems } = await settle(path);
			return [...problems, ...differences(rows(path).filter(wasThere), fresh)];
		},
	},
	forget: {
		run: "forget",
		async prepare({ path, files }) {
			await filled(path, files);
			return { session: "two" };
		},
		async verify({ path, files, fresh }) {
			const others = fresh.filter((row) => !row.startsWith("two "));
			const now = rows(path);
			const wrong = others.filter((row) => !now.includes(row)).map((row) => `lost ${row.slice(0, 40)}`);
			const store = new MemoryStore({ path });
			await store.forget({ session: "two" }).catch((error) => error.code === "NOT_FOUND" || wrong.push(error.message));
			const { stored } = await store.import({ from: files });
			store.close();
			if (stored > 0) wrong.push(`${stored} came back`);
			if (bytes(path).includes("two 7 says")) wrong.push("bytes of it are left");
			return [...wrong, ...differences(rows(path), others)];
		},
	},
	merge: {
		run: "import",
		async prepare({ path, files, place }) {
			const other = place.store();
			await filled(other, files);
			const store = new MemoryStore({ path });
			for (const number of [1, 2, 61]) store.capture("one", message("one", number));
			store.close();
			return { from: other };
		},
		async verify({ path, plan, undisturbed }) {
			const lost = missing(path, ["one 1", "one 2", "one 61"]).map((key) => `lost ${key}`);
			await settle(path, plan.from);
			return [...lost, ...differences(rows(path), undisturbed)];
		},
	},
};

/** Not what the worker captured when it had repaired, as far as it came. */
const wasThere = (row) => !row.startsWith("after ");

/** Disturbs an operation at `count` of its steps, or at each of them, by every kind of fault. */
export async function atEverySteps(
	name,
	{ place, library, count, seed, faults = FAULTS, until = Number.POSITIVE_INFINITY },
) {
	const operation = OPERATIONS[name];
	const files = sessionFiles(join(place.dir, "files"));
	const fresh = await freshRows(place, files);
	const template = place.store();
	const plan = await operation.prepare({ path: template, files, place });
	const prepared = existsSync(template);
	const start = () => (prepared ? copyStore(template, place.store()) : place.store());

	const path = start();
	const counter = join(place.dir, `${name}.count`);
	const calm = await new Worker(operation.run, path, plan, { env: disturb(path, library, { FAULT_COUNT: counter }) })
		.ended;
	const result = { tried: 0, wrong: [], steps: Number(readFileSync(counter, "utf8")) };
	if (calm.fault) result.wrong.push(`undisturbed: ${calm.fault}`);
	const undisturbed = rows(path);
	const judge = async (path, worker, where) => {
		let wrong;
		try {
			const opened = await settle(path, undefined, name === "repair" || name === "reindex");
			wrong = name === "repair" || name === "reindex" ? [] : opened.problems;
			wrong.push(...(await operation.verify({ path, plan, files, fresh, worker, undisturbed })));
			wrong.push(...(await settle(path)).problems);
		} catch (error) {
			wrong = [`${error.code ?? ""} ${error.stack}`];
		}
		if (worker.fault) wrong.push(worker.fault);
		result.wrong.push(...wrong.slice(0, 4).map((what) => `${name}, ${where}: ${what}`));
	};
	await judge(path, calm, "undisturbed");

	const stride = count ? Math.max(1, result.steps / count) : 1;
	for (const { what, times = 1, says } of faults) {
		for (let at = 1 + (count ? seed % Math.ceil(stride) : 0); at <= result.steps; at += stride) {
			if (performance.now() > until) return result;
			const step = Math.floor(at);
			const path = start();
			const env = disturb(path, library, { FAULT_AT: step, FAULT_DO: what, FAULT_FOR: times });
			const worker = await new Worker(operation.run, path, plan, { env }).ended;
			result.tried++;
			await judge(path, worker, `${says} at step ${step} of ${result.steps}`);
			rmSync(join(path, ".."), { recursive: true, force: true });
		}
	}
	return result;
}

const disturb = (path, library, more) => ({ LD_PRELOAD: library, FAULT_PATH: path, ...more });

/** A store that has what the files have. */
async function filled(path, files) {
	const store = new MemoryStore({ path });
	await store.import({ from: files });
	store.close();
}

async function freshRows(place, files) {
	const path = place.store();
	await filled(path, files);
	return rows(path);
}

/** Overwrites a page in the middle of the messages. */
export function spoil(path) {
	behind(path, (database) => database.exec("pragma wal_checkpoint(truncate)"));
	const page = 4096 * Math.floor(statSync(path).size / 4096 / 2);
	const file = openSync(path, "r+");
	writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page);
	closeSync(file);
}

/** A store of the JavaScript edition that holds session `one`. */
export function oldStore(path, messages = 60) {
	const schema = `pragma journal_mode = wal; pragma user_version = 1;
		create table session (id text primary key, cwd text not null, project text not null, started_at integer not null,
			last_at integer not null, name text);
		create table msg (id integer primary key, session_id text not null, seq integer not null, ts integer not null,
			role text not null, text text not null, nchars integer not null, meta text, hash text not null, unique (session_id, hash));
		create index msg_session_seq on msg (session_id, seq);
		create virtual table msg_fts using fts5 (chars, grams, content = '', contentless_delete = 1);`;
	behind(path, (database) => {
		database.exec(schema);
		database.prepare("insert into session values ('one', '/code/one', 'one', 1, 9, '缓存方案')").run();
		const message_ = database.prepare("insert into msg values (?, 'one', ?, ?, ?, ?, ?, null, ?)");
		const index = database.prepare("insert into msg_fts (rowid, chars, grams) values (?, ?, ?)");
		for (let number = 1; number <= messages; number++) {
			const { role, content, timestamp } = message("one", number);
			const [{ text }] = content;
			message_.run(number + 10, number, timestamp, role, text, text.length, `hash ${number}`);
			index.run(number + 10, text, text);
		}
	});
}

function differences(found, wanted) {
	const [have, want] = [new Set(found), new Set(wanted)];
	const more = found.filter((row) => !want.has(row)).map((row) => `too much: ${row.slice(0, 60)}`);
	const less = wanted.filter((row) => !have.has(row)).map((row) => `missing: ${row.slice(0, 60)}`);
	return found.length === wanted.length && more.length + less.length === 0
		? []
		: [`${found.length} rows for ${wanted.length}`, ...less, ...more];
}
