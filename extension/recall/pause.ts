// /recall pause: nothing said from here on is kept, until it is given again; the footer says so.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Memory } from "../memory.ts";
import type { Answer } from "./answer.ts";

const STATUS = "memory-paused";

/** Pauses this session, or goes on with it. */
export async function pause(memory: Memory, _rest: string, ctx: ExtensionContext): Promise<Answer> {
	const { session, store, words } = memory;
	if (!session) return { text: words.notKept, data: { paused: false, kept: false } };
	const paused = !store.paused(session);
	if (paused) store.pause(session);
	else store.resume(session);
	showPaused(memory, ctx);
	return { text: paused ? words.paused : words.resumed, data: { paused, kept: !paused } };
}

/** Shows in the footer whether the present session is paused. */
export function showPaused(memory: Memory, ctx: ExtensionContext): void {
	memory.attempt(ctx, (store) => {
		const paused = memory.session !== undefined && store.paused(memory.session);
		ctx.ui.setStatus(STATUS, paused ? memory.words.pausedStatus : undefined);
	});
}
