// A process that works on a store until it is done or killed. It tells at once what was kept, one JSON line each:
// {"kept": key} for a capture that returned, {"error": code} for one that threw, {"done": …} at the end.

import { appendFileSync, rmSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryStore, message } from "./fixture.mjs";

const [name, path, given] = process.argv.slice(2);
const plan = JSON.parse(given ?? "{}");
const tell = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Runs work again while it fails for a cause that may go away. */
async function insist(work, tries = 20) {
	for (let left = tries; ; left--) {
		try {
			return await work();
		} catch (error) {
			tell({ error: error.code ?? error.message });
			if (left === 0) process.exit(3);
			await sleep(5);
		}
	}
}

/** Waits until the index has every message. After a failed step it is the next write that has upkeep go on. */
async function indexed(store) {
	const whole = () => {
		try {
			return store.search("zebra").complete;
		} catch {
			// The fault may hit the search itself; it is asked again.
			return false;
		}
	};
	const write = () => {
		try {
			store.begin({ id: "one", cwd: "/code/one", startedAt: 1 });
		} catch {
			// As above.
		}
	};
	for (let tries = 1; !whole(); tries++) {
		await sleep(5);
		if (tries % 40 === 0) write();
		if (tries > 2000) throw new Error("the index is never whole");
	}
}

function capture(store, session, number) {
	const begun = performance.now();
	const { stored } = store.capture(session, message(session, number));
	const took = performance.now() - begun;
	tell({ kept: stored ? `${session} ${number}` : undefined, handed: stored ? undefined : number, took });
}

const WORK = {
	async capture(store) {
		for (const session of plan.sessions ?? ["live"])
			await insist(() => store.begin({ id: session, cwd: "/live", startedAt: 1 }));
		const until = plan.seconds ? performance.now() + plan.seconds * 1000 : Number.POSITIVE_INFINITY;
		for (let number = plan.from ?? 1; number <= (plan.messages ?? 5) && performance.now() < until; number++) {
			for (const session of plan.sessions ?? ["live"]) await insist(() => capture(store, session, number));
			if (plan.gap !== undefined) await sleep(plan.gap);
		}
	},
	async import(store) {
		const report = await insist(() => store.import({ from: plan.from }));
		tell({ stored: report.stored, skipped: report.skipped });
	},
	async upgrade(store) {
		await indexed(store);
	},
	async repair(store) {
		const health = await insist(() => store.check({ repair: true }));
		tell({ repaired: health.repaired });
		await insist(() => indexed(store));
		// The same process goes on once the cause is gone.
		await insist(() => capture(store, "after", 1));
		if (store.search("after 1 says").hits.length === 0) throw new Error("what was captured after is not found");
	},
	/** Reads without an end, as a long search or a backup does. */
	async hold() {
		const { DatabaseSync } = await import("node:sqlite");
		const database = new DatabaseSync(path);
		database.exec("begin; select count(*) from msg");
		await sleep(plan.seconds * 1000);
		database.close();
	},
	async look(store) {
		const until = performance.now() + plan.seconds * 1000;
		while (performance.now() < until) {
			store.search("缓存 zebra");
			store.sessions();
			await store.stats();
			await sleep(1);
		}
		const { problems } = await store.check();
		if (problems.length > 0) throw new Error(problems.join("; "));
	},
	/** Fills the disk, captures into it, makes room, and captures the rest. */
	async full(store) {
		const ballast = `${plan.mount}/ballast`;
		store.begin({ id: "live", cwd: "/live", startedAt: 1 });
		const [kept, wrong] = [[], []];
		let refused = 0;
		const attempt = (number) => {
			try {
				if (store.capture("live", message("live", number)).stored) kept.push(number);
			} catch (error) {
				refused++;
				if (error.code !== "IO") wrong.push(`${error.code}: ${error.message}`);
			}
		};
		for (let number = 1; number <= 50; number++) attempt(number);
		for (const chunk of [Buffer.alloc(1 << 20), Buffer.alloc(4096)]) {
			try {
				for (;;) appendFileSync(ballast, chunk);
			} catch {}
		}
		for (let number = 51; number <= 200; number++) attempt(number);
		if (refused === 0) wrong.push("the disk was never full");
		rmSync(ballast);
		for (let number = 1; number <= 200; number++) attempt(number);
		store.close();
		const again = new MemoryStore({ path });
		const health = await again.check();
		wrong.push(...health.problems);
		const { messages } = again.read("live", { before: 1000, after: 1000 });
		if (messages.length !== 200) wrong.push(`${messages.length} messages of 200 once there was room`);
		again.close();
		tell({ full: true, refused, kept: kept.length, wrong });
	},
	async forget(store) {
		const report = await insist(() =>
			store.forget({ session: plan.session }).catch((error) => {
				if (error.code !== "NOT_FOUND") throw error;
				return { messages: 0 };
			}),
		);
		tell({ forgotten: report.messages });
	},
};

const store = await insist(() => new MemoryStore({ path }));
tell({ opened: true, notice: store.notice() });
await WORK[name](store);
const notice = store.notice();
if (plan.linger) await sleep(plan.linger);
store.close();
tell({ done: true, notice });
