// Registers /recall. What it runs is loaded at first need, so that pi does not start later for it.

import { setTimeout as sleep } from "node:timers/promises";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Memory, say } from "../memory.ts";
import { PASSAGE_WIDGET } from "./passage.ts";
import { showPaused } from "./pause.ts";

/** In a terminal, the rest is loaded this long after the start, before anyone has typed /recall; as long again, rehearsed. */
const WARM_MS = 200;

let loaded: Promise<typeof import("./command.ts")> | undefined;

function load() {
	// Kept here: pi's loader would evaluate the module anew each time.
	loaded ??= import("./command.ts");
	return loaded;
}

async function prepare(memory: Memory, ctx: ExtensionContext): Promise<void> {
	await sleep(WARM_MS, undefined, { ref: false });
	const { rehearse } = await load();
	await sleep(WARM_MS, undefined, { ref: false });
	rehearse(memory, ctx);
}

export function recall(pi: ExtensionAPI, memory: Memory): void {
	pi.on("session_start", (_event, ctx) => {
		showPaused(memory, ctx);
		if (ctx.mode === "tui") prepare(memory, ctx).catch(() => {});
	});
	// The passage goes with the next message.
	pi.on("before_agent_start", (_event, ctx) => {
		if (ctx.hasUI) ctx.ui.setWidget(PASSAGE_WIDGET, undefined);
	});
	pi.registerCommand("recall", {
		description: memory.words.recall,
		getArgumentCompletions: async (prefix) => {
			const command = await load().catch(() => undefined);
			return (await command?.completions(memory, prefix)) ?? null;
		},
		handler: async (args, ctx) => {
			try {
				await (await load()).answer(memory, args.trim(), ctx);
			} catch (error) {
				// A host without something that the screen is made of: some say nothing of a command that fails.
				say(ctx, memory.explain(error), "error");
			}
		},
	});
}
