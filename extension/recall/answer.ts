// How /recall answers in each of pi's modes.

import { writeSync } from "node:fs";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { harmless } from "../format.ts";
import { say } from "../memory.ts";

/** What a subcommand answers: text for a person, and the same as data for json mode. */
export interface Answer {
	text: string;
	data: unknown;
}

/** Shows an answer: a notice where there is a screen, standard output where a script may read it. */
export function show(answer: Answer, ctx: ExtensionCommandContext, level: "info" | "error" = "info"): void {
	if (ctx.hasUI) say(ctx, answer.text, level);
	// The descriptor itself: in these modes pi sends console.log and process.stdout to standard error.
	else if (ctx.mode === "json") writeAll(`${JSON.stringify({ type: "recall", ...asObject(answer.data) })}\n`);
	else writeAll(`${harmless(answer.text)}\n`);
}

function asObject(data: unknown): object {
	return Array.isArray(data) ? { sessions: data } : Object(data);
}

/** Writes all of it; a full pipe takes a part at a time. */
function writeAll(text: string): void {
	let rest = Buffer.from(text);
	while (rest.length > 0) {
		try {
			rest = rest.subarray(writeSync(1, rest));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
		}
	}
}
