// The real pi in a pseudo-terminal, and a terminal emulator that says what a person would see.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pty from "@lydell/node-pty";
import { extension, Home, root } from "../host/pi.mjs";

const require = createRequire(import.meta.url);
const { Terminal: Emulator } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");
const cli = join(root, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
const screens = join(dirname(fileURLToPath(import.meta.url)), "screens");

const PATIENCE_MS = 30_000;
/** A screen counts as painted when nothing has come for this long. */
const QUIET_MS = 120;

export const KEYS = {
	enter: "\r",
	escape: "\u001b",
	tab: "\t",
	up: "\u001b[A",
	down: "\u001b[B",
	pageUp: "\u001b[5~",
	pageDown: "\u001b[6~",
	backspace: "\u007f",
	ctrl: (letter) => String.fromCharCode(letter.charCodeAt(0) - 96),
};

export const SIZES = [
	[60, 16],
	[80, 24],
	[200, 60],
];

export class Terminal {
	/** All that pi has written. */
	raw = "";
	/** When it last wrote. */
	lastAt = 0;

	/** Starts pi in a terminal of this size, and waits until it takes input. */
	static async open(home, { cols = 80, rows = 24, args = [], env = {} } = {}) {
		const terminal = new Terminal(home, { cols, rows, args, env });
		// Before the home goes: pi would write into it, and a test would wait for pi for ever.
		home.ending.push(() => terminal.end());
		await terminal.until(/fake-1/);
		await terminal.quiet();
		return terminal;
	}

	constructor(home, { cols, rows, args, env }) {
		this.emulator = new Emulator({ cols, rows, allowProposedApi: true, scrollback: 5_000 });
		this.emulator.loadAddon(new UnicodeGraphemesAddon());
		const flags = ["-e", extension("model"), "-e", root, "--model", "fake/fake-1", ...args];
		this.pty = pty.spawn(process.execPath, [cli, ...flags], {
			name: "xterm-256color",
			cols,
			rows,
			cwd: home.project,
			env: { ...home.env, COLORTERM: "truecolor", PI_TEST_STEPS: "[]", ...env },
		});
		this.pty.onData((data) => {
			this.raw += data;
			this.lastAt = performance.now();
			this.emulator.write(data);
		});
		// What pi asks the terminal, the terminal answers.
		this.emulator.onData((data) => this.pty.write(data));
		this.exited = new Promise((resolve) => this.pty.onExit(resolve));
	}

	/** Sends text as it is typed, or keys. */
	async send(...inputs) {
		for (const input of inputs) this.pty.write(input);
		await this.quiet();
	}

	/** Sends text character by character, as fast as the terminal takes it. */
	async type(text) {
		for (const char of text) this.pty.write(char);
		await this.quiet();
	}

	/** A slash command, from an empty editor. */
	async command(text) {
		await this.send(text);
		await this.send(KEYS.enter);
	}

	/** Opens /recall, with words to search for or without. */
	async recall(words = "") {
		await this.command(`/recall ${words}`.trim());
		await this.until(/^› /m);
	}

	resize(cols, rows) {
		this.emulator.resize(cols, rows);
		this.pty.resize(cols, rows);
		return this.quiet();
	}

	/** The screen as text, a line a row. */
	screen() {
		const { active } = this.emulator.buffer;
		const lines = [];
		for (let row = 0; row < this.emulator.rows; row++) {
			lines.push(active.getLine(active.baseY + row)?.translateToString(true) ?? "");
		}
		return lines.join("\n");
	}

	/** Rows that a longer line ran over into. */
	wrapped() {
		const { active } = this.emulator.buffer;
		const rows = [...Array(this.emulator.rows).keys()];
		return rows.filter((row) => active.getLine(active.baseY + row)?.isWrapped);
	}

	/** Waits until the screen shows it. */
	async until(pattern) {
		const deadline = Date.now() + PATIENCE_MS;
		while (!pattern.test(this.screen())) {
			if (Date.now() > deadline) assert.fail(`the screen never showed ${pattern}:\n${this.screen()}`);
			await sleep(10);
		}
		await this.quiet();
		return this.screen();
	}

	/** Waits until pi has painted what it was about to paint. */
	async quiet() {
		const asked = performance.now();
		const deadline = asked + PATIENCE_MS;
		while (performance.now() < deadline) {
			await sleep(10);
			const since = performance.now() - Math.max(this.lastAt, asked);
			if (since > QUIET_MS) return;
		}
	}

	/** The screen becomes the one kept under this name; UPDATE_SCREENS=1 keeps what is there. */
	async shows(name) {
		const file = join(screens, `${name}.${this.emulator.cols}x${this.emulator.rows}.txt`);
		if (process.env.UPDATE_SCREENS) {
			await sleep(1_000);
			mkdirSync(screens, { recursive: true });
			writeFileSync(file, `${timeless(this.screen())}\n`);
		}
		const kept = readFileSync(file, "utf8").slice(0, -1);
		const deadline = Date.now() + PATIENCE_MS / 3;
		while (timeless(this.screen()) !== kept && Date.now() < deadline) await sleep(20);
		assert.equal(timeless(this.screen()), kept, name);
		assert.deepEqual(this.wrapped(), [], "lines ran over");
	}

	async end() {
		this.pty.kill("SIGKILL");
		await this.exited;
	}
}

/** A home with a past that is in the store already. */
export async function homeWith(test, write, settings) {
	const home = Home.for(test, settings);
	const written = await write(home);
	const { out, err } = await home.print("/recall import");
	assert.match(out, /new message/, err);
	return { home, ...written };
}

/** A screen without what differs from run to run, and without which of many equals stands where. */
function timeless(screen) {
	return (
		screen
			.replaceAll(/\d{4}-\d{2}-\d{2}/g, "2026-01-01")
			.replaceAll(/(?<=2026-01-01 )\d{2}:\d{2}/g, "12:00")
			// The time a search took, and what stands behind it where the width leaves room.
			.replaceAll(/· \d+\.\S*( .*)?$/gm, "· 1.0 ms")
			.replaceAll(/otter number \d+/g, "otter number 100")
			.split("\n")
			.map((line) => line.trimEnd())
			.join("\n")
	);
}
