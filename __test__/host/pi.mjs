// The real pi on a temporary home with a scripted model: print mode, rpc mode, and what the store then holds.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cli = join(root, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
const require = createRequire(import.meta.url);

/** The path of an extension under `extensions/`. */
export const extension = (name) => join(root, "__test__/host/extensions", `${name}.ts`);

/** Answers of the scripted model: see extensions/model.ts. */
export const say = (text) => [{ text }];
export const call = (tool, args) => [{ call: [tool, args] }];

/** How long anything may take before a test gives up on it. */
const PATIENCE_MS = 60_000;

/** A home folder with a project in it, and pi to run there. */
export class Home {
	/** What still runs in it and has to end before it goes. */
	ending = [];

	/** A home that goes when the test ends. */
	static for(test, settings) {
		const home = new Home(mkdtempSync(join(tmpdir(), "pi-memory-")), settings);
		test.after(async () => {
			for (const end of home.ending) await end();
			rmSync(home.dir, { recursive: true, force: true, maxRetries: 5 });
		});
		return home;
	}

	constructor(dir, settings = {}) {
		this.dir = dir;
		this.project = join(dir, "project");
		this.agent = join(dir, ".pi/agent");
		this.db = join(dir, ".pi/memory/sessions.db");
		this.shownFile = join(dir, "shown.jsonl");
		mkdirSync(this.project, { recursive: true });
		mkdirSync(this.agent, { recursive: true });
		writeFileSync(join(this.agent, "settings.json"), JSON.stringify(settings));
		// What else runs in this environment must not steer the pi under test.
		const inherited = Object.entries(process.env).filter(([name]) => !/^(PI_|LC_|LANG|NODE_TEST)/.test(name));
		this.env = {
			...Object.fromEntries(inherited),
			...(process.env.PI_MEMORY_ADDON ? { PI_MEMORY_ADDON: process.env.PI_MEMORY_ADDON } : {}),
			HOME: this.dir,
			USERPROFILE: this.dir,
			LANG: "en_US.UTF-8",
			PI_OFFLINE: "1",
			PI_CODING_AGENT_DIR: this.agent,
			PI_TEST_SHOWN: this.shownFile,
		};
	}

	/** Starts pi. `memory: false` leaves the extension out. */
	start(args, { steps = [], extensions = [], env = {}, memory = true, cwd = this.project } = {}) {
		const loaded = ["model", ...(memory ? [root] : []), ...extensions];
		const flags = loaded.flatMap((name) => ["-e", name === root ? root : extension(name)]);
		return spawn(process.execPath, [cli, ...flags, "--model", "fake/fake-1", ...args], {
			cwd,
			env: { ...this.env, PI_TEST_STEPS: JSON.stringify(steps), ...env },
			stdio: ["pipe", "pipe", "pipe"],
		});
	}

	/** Runs `pi -p` (or another mode) to its end. */
	async print(prompt, { args = [], ...options } = {}) {
		const child = this.start(["-p", ...args, prompt], options);
		child.stdin.end();
		const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
		const [code, signal] = await ended(child);
		const [out, err] = await texts;
		return { code, signal, out, err };
	}

	/** Starts pi in rpc mode. */
	rpc({ args = [], ...options } = {}) {
		return new Rpc(this.start(["--mode", "rpc", ...args], options));
	}

	/** pi's session files, oldest first. */
	files(under = join(this.agent, "sessions")) {
		if (!existsSync(under)) return [];
		const names = readdirSync(under, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
		return names.sort().map((name) => join(under, name));
	}

	/** The entries of a session file. */
	entries(file = this.files().at(-1)) {
		const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
		return lines.map((line) => JSON.parse(line));
	}

	/** What the model was shown for each of its answers, as pi's messages. */
	shown() {
		return readFileSync(this.shownFile, "utf8").split("\n").filter(Boolean).map(JSON.parse);
	}

	/** The text of the latest result of a tool that the model was shown. */
	toolText(tool) {
		const results = this.shown()
			.flat()
			.filter((message) => message.role === "toolResult" && message.toolName === tool);
		return (
			results
				.at(-1)
				?.content.map((block) => block.text)
				.join("") ?? ""
		);
	}

	/** Every message in the store, session by session in order. */
	rows(db = this.db) {
		if (!existsSync(db)) return [];
		const { DatabaseSync } = require("node:sqlite");
		const database = new DatabaseSync(db, { readOnly: true });
		try {
			return database
				.prepare(ROWS)
				.all()
				.map((row) => ({ ...row, role: ROLES[row.role] }));
		} finally {
			database.close();
		}
	}

	/** The store equals, row for row, what importing pi's session files into a new store gives. */
	async assertEqualsImport(files = this.files()) {
		const { MemoryStore } = require(join(root, "index.js"));
		for (const file of files) {
			const fresh = mkdtempSync(join(tmpdir(), "pi-memory-fresh-"));
			try {
				const path = join(fresh, "sessions.db");
				const store = new MemoryStore({ path });
				await store.import({ from: file });
				store.close();
				const wanted = this.rows(path);
				const sessions = new Set(wanted.map((row) => row.session));
				const kept = this.rows().filter((row) => sessions.has(row.session));
				assert.deepEqual(kept, wanted, `the store differs from a fresh import of ${file}`);
			} finally {
				rmSync(fresh, { recursive: true, force: true });
			}
		}
	}
}

const ROLES = ["user", "assistant", "tool_error", "summary"];
const ROWS = `
	select session.key as session, msg.seq, msg.entry, msg.role, msg.ts, coalesce(msg.text, first.text) as text
	from msg
	join session on session.id = msg.session
	left join msg as first on first.id = msg.origin
	order by session.started_at, session.key, msg.seq`;

/** pi in rpc mode: commands in, events out. */
export class Rpc {
	events = [];
	#waiting = [];
	#next = 1;

	constructor(child) {
		this.child = child;
		this.err = textOf(child.stderr);
		this.ended = ended(child);
		createInterface({ input: child.stdout }).on("line", (line) => {
			const event = JSON.parse(line);
			this.events.push(event);
			for (const waiter of [...this.#waiting]) waiter(event);
		});
	}

	/** Sends a command and gives its response's data. */
	async send(command) {
		const id = `r${this.#next++}`;
		const answer = this.next((event) => event.type === "response" && event.id === id);
		this.child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
		const response = await answer;
		assert.ok(response.success, `${command.type}: ${response.error}`);
		return response.data;
	}

	/** Sends a prompt and waits until pi has settled. */
	async prompt(message) {
		const settled = this.next((event) => event.type === "agent_settled");
		await this.send({ type: "prompt", message });
		await settled;
	}

	/** Runs an extension's command; gives what it notified. */
	async command(message) {
		const before = this.events.length;
		await this.send({ type: "prompt", message });
		return this.notices(before).join("\n");
	}

	/** Runs an extension's command that opens a dialog, and gives the dialog; `answer` it, or the command waits. */
	dialog(message) {
		const dialog = this.next((event) => ["select", "confirm", "input"].includes(event.method));
		this.child.stdin.write(`${JSON.stringify({ type: "prompt", message })}\n`);
		return dialog;
	}

	/** Answers a dialog that an extension opened. */
	answer(request, response) {
		this.child.stdin.write(`${JSON.stringify({ type: "extension_ui_response", id: request.id, ...response })}\n`);
	}

	/** What was notified, from an event on. */
	notices(from = 0) {
		return this.events
			.slice(from)
			.filter((event) => event.method === "notify")
			.map((event) => event.message);
	}

	/** The first event from now on that fits. */
	next(fits) {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => reject(new Error(`no such event: ${fits}`)), PATIENCE_MS);
			const settle = (event) => {
				if (!fits(event)) return;
				clearTimeout(timer);
				this.#waiting.splice(this.#waiting.indexOf(settle), 1);
				resolve(event);
			};
			this.#waiting.push(settle);
		});
	}

	/** Ends pi by ending its input. */
	async end() {
		this.child.stdin.end();
		const [code] = await this.ended;
		return { code, err: await this.err };
	}
}

async function textOf(stream) {
	let text = "";
	for await (const chunk of stream.setEncoding("utf8")) text += chunk;
	return text;
}

/** The exit code and signal; a process that does not end is killed. */
async function ended(child) {
	const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
	const [code, signal] = await once(child, "close");
	clearTimeout(timer);
	return [code, signal];
}
