// One copy of this package at a time: each brings an SQLite of its own, and two in one process undo each other's file locks.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** On pi's bus between extensions: a copy asks for the one loaded before it. */
const CHANNEL = "pi-memory-sessions:loaded";

interface Question {
	answer?: string;
}

/** The folders of this copy and of another loaded before it; nothing when this is the first, which answers from then on. */
export function otherCopy(pi: ExtensionAPI): { here: string; there: string } | undefined {
	const here = dirname(dirname(fileURLToPath(import.meta.url)));
	const question: Question = {};
	pi.events.emit(CHANNEL, question);
	const there = question.answer;
	if (there && there !== here) return { here, there };
	const forget = pi.events.on(CHANNEL, (asked) => {
		(asked as Question).answer ??= here;
	});
	// A reload loads anew, and another copy may then be the first.
	pi.on("session_shutdown", forget);
	return undefined;
}
