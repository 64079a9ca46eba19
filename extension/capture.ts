// Keeps what pi says while it says it: each message as it ends, and the session's file for what the events miss.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { MemoryStore } from "../index.js";
import type { Memory } from "./memory.ts";

/** Subscribes to every event that brings something to keep. */
export function capture(pi: ExtensionAPI, memory: Memory): void {
	pi.on("session_start", (_event, ctx) => {
		memory.greet(ctx);
		memory.session = undefined;
		mend(memory, ctx);
	});

	const keep = (entry: object, ctx: ExtensionContext) =>
		memory.attempt(ctx, (store) => {
			const session = sessionOf(store, memory, ctx);
			if (session) store.capture(session, entry);
		});
	pi.on("message_end", (event, ctx) => keep(event.message, ctx));
	pi.on("session_compact", (event, ctx) => keep(event.compactionEntry, ctx));
	pi.on("session_tree", (event, ctx) => {
		if (event.summaryEntry) keep(event.summaryEntry, ctx);
	});
	pi.on("session_info_changed", (_event, ctx) => memory.attempt(ctx, (store) => begin(store, memory, ctx)));

	pi.on("turn_end", (_event, ctx) => mend(memory, ctx));
	pi.on("agent_settled", (_event, ctx) => mend(memory, ctx));
	pi.on("session_shutdown", async (_event, ctx) => {
		mend(memory, ctx);
		memory.attempt(ctx, (store) => {
			if (memory.silenced) store.resume(memory.silenced);
		});
		await memory.close();
	});
}

/** Makes the store equal to the session's file as it is now. */
export function mend(memory: Memory, ctx: ExtensionContext): void {
	memory.attempt(ctx, (store) => tail(store, memory, ctx));
}

/** pi's present session, registered at first need: a store that would not open at the start may do so later. */
function sessionOf(store: MemoryStore, memory: Memory, ctx: ExtensionContext): string | undefined {
	memory.session ??= begin(store, memory, ctx);
	return memory.session;
}

/** Registers pi's present session; its id, or nothing when it is not to be kept. */
function begin(store: MemoryStore, memory: Memory, ctx: ExtensionContext): string | undefined {
	const { sessionManager } = ctx;
	const file = fileOf(ctx);
	// Whoever asks for no session wants no record.
	if (!file) return undefined;
	const header = sessionManager.getHeader();
	const id = sessionManager.getSessionId();
	store.begin({
		id,
		cwd: header?.cwd || ctx.cwd,
		startedAt: Date.parse(header?.timestamp ?? "") || Date.now(),
		name: sessionManager.getSessionName(),
		file,
		parentFile: header?.parentSession,
	});
	// Paused, not passed over: an import leaves it out as well.
	if (!ctx.hasUI && !memory.config.keepScriptedRuns && !store.paused(id)) {
		store.pause(id);
		memory.silenced = id;
	}
	return id;
}

/** Takes in what the session's file has and the events did not bring. */
function tail(store: MemoryStore, memory: Memory, ctx: ExtensionContext): void {
	const file = fileOf(ctx);
	const session = sessionOf(store, memory, ctx);
	if (!session || !file || !existsSync(file)) return;
	const { behind } = store.tail(session, file);
	// A long history, on a first resume: not on pi's event loop.
	if (behind > 0 && !memory.importing) memory.import({ from: file }).catch(() => {});
}

/** The session's file as an absolute path; nothing with --no-session. */
function fileOf(ctx: ExtensionContext): string | undefined {
	const file = ctx.sessionManager.getSessionFile();
	return file && resolve(ctx.cwd, file);
}
