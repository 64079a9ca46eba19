// The store as the extension holds it: opened when first needed, its failures caught and said once a session.

import { createRequire } from "node:module";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ImportOptions, ImportReport, MemoryStore, Waiting } from "../index.js";
import { type Config, type ReadConfig, readConfig } from "./config.ts";
import { harmless } from "./format.ts";
import { languageOf, type Words, wordsOf } from "./words.ts";

/** A store that would not open is tried again after this long: a disk may have been mounted, a lock let go. */
const RETRY_MS = 5_000;
/** These do not pass by waiting. */
const LASTING = new Set(["ADDON_MISSING", "NEWER_SCHEMA", "INVALID_ARGUMENT"]);

export class Memory {
	readonly config: Config;
	readonly words: Words;
	/** The id of pi's present session while it is kept. */
	session: string | undefined;
	/** The id of a session that the settings have paused for this run. */
	silenced: string | undefined;
	/** The import that the person asked for, while it runs. */
	asked: AbortController | undefined;
	/** Whether the screen of /recall is open and takes the keys. */
	screenIsOpen = false;
	readonly #read: ReadConfig;
	#store: MemoryStore | undefined;
	#failure: { error: Error; retryAt: number } | undefined;
	#complained = false;
	#repairing = false;
	readonly #imports = new Map<AbortController, Promise<unknown>>();

	constructor() {
		this.#read = readConfig();
		this.config = this.#read.config;
		this.words = wordsOf(this.config.language ?? languageOf(process.env));
	}

	/** Where the settings are. */
	get configFile(): string {
		return this.#read.file;
	}

	/** The open store; throws what keeps it from opening. */
	get store(): MemoryStore {
		if (this.#store) return this.#store;
		if (this.#failure && Date.now() < this.#failure.retryAt) throw this.#failure.error;
		try {
			// Here and not at the top: an extension that throws while it loads stops pi.
			const addon = createRequire(import.meta.url)("../index.js") as typeof import("../index.js");
			this.#store = new addon.MemoryStore({
				excludeFolders: this.config.excludeFolders,
				keepExtensionMessages: this.config.keepExtensionMessages,
			});
			this.#failure = undefined;
			return this.#store;
		} catch (thrown) {
			const error = asError(thrown);
			const lasting = LASTING.has(codeOf(error));
			this.#failure = { error, retryAt: lasting ? Number.POSITIVE_INFINITY : Date.now() + RETRY_MS };
			throw error;
		}
	}

	/** A session begins: what is wrong with the settings is said, and failures may be said again. */
	greet(ctx: ExtensionContext): void {
		this.#complained = false;
		for (const problem of this.#read.problems) {
			say(ctx, this.words.configProblem(this.#read.file, problem(this.words)), "warning");
		}
	}

	/** Runs memory's part of an event. Whatever fails in it is said once a session, and pi goes on. */
	attempt(ctx: ExtensionContext, work: (store: MemoryStore) => void): void {
		try {
			const { store } = this;
			work(store);
			const notice = store.notice();
			if (notice) say(ctx, notice, "warning");
		} catch (error) {
			if (this.#store && codeOf(asError(error)) === "CORRUPT") this.#repair(ctx, this.#store);
			if (this.#complained) return;
			this.#complained = true;
			const text = this.#store ? this.words.captureFailed(asError(error).message) : this.explain(error);
			say(ctx, text, "warning");
		}
	}

	/** Damage was met: what can be saved is saved in the background, once a run. */
	#repair(ctx: ExtensionContext, store: MemoryStore): void {
		if (this.#repairing) return;
		this.#repairing = true;
		store.check({ repair: true }).then(
			({ repaired }) => {
				for (const sentence of repaired) say(ctx, sentence, "warning");
			},
			() => {},
		);
	}

	/** What went wrong, for a person. */
	explain(thrown: unknown): string {
		const error = asError(thrown);
		if (codeOf(error) === "ADDON_MISSING") return `${this.words.addonMissing}\n${error.message}`;
		return this.#store ? this.words.failed(error.message) : this.words.storeFailed(error.message);
	}

	/** Whether an import runs. */
	get importing(): boolean {
		return this.#imports.size > 0;
	}

	/** Imports in the background until it is done or aborted; what it has stored stays. */
	async import(options: ImportOptions, abort = new AbortController()): Promise<ImportReport> {
		const done = this.store.import({ ...options, signal: abort.signal });
		this.#imports.set(abort, done);
		try {
			return await done;
		} finally {
			this.#imports.delete(abort);
		}
	}

	/** Session files that an import would bring in; none when that cannot be told. */
	async waiting(ctx: ExtensionContext): Promise<Waiting | undefined> {
		try {
			return await this.store.waiting({ also: this.folders(ctx) });
		} catch {
			return undefined;
		}
	}

	/** Where pi keeps this session's kind, which only pi knows: `--session-dir` and a project's settings count. */
	folders(ctx: ExtensionContext): string[] {
		return process.env.PI_MEMORY_SESSIONS_DIR ? [] : [ctx.sessionManager.getSessionDir()].filter(Boolean);
	}

	/** Ends what runs and closes the store. */
	async close(): Promise<void> {
		for (const abort of this.#imports.keys()) abort.abort();
		await Promise.allSettled(this.#imports.values());
		try {
			this.#store?.close();
		} catch {
			// Closing is all that is left to do; nothing depends on it.
		}
		this.#store = undefined;
		this.session = undefined;
	}
}

/** Tells the person: a notice where there is a screen, standard error where there is none. */
export function say(ctx: ExtensionContext, text: string, level: "info" | "warning" | "error" = "info"): void {
	try {
		if (ctx.hasUI) ctx.ui.notify(harmless(text), level);
		else process.stderr.write(`${harmless(text)}\n`);
	} catch {
		// A session that was replaced meanwhile has no screen any more.
	}
}

/** An error's `code`, or nothing. */
export function codeOf(error: Error): string {
	return String((error as NodeJS.ErrnoException).code ?? "");
}

function asError(thrown: unknown): Error {
	return thrown instanceof Error ? thrown : new Error(String(thrown));
}
