// pi-memory-sessions: a memory for pi. Keeps every message of every session in a private store;
// the model finds them with session_search and session_read, the person with /recall.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { capture } from "./capture.ts";
import { otherCopy } from "./copies.ts";
import { Memory, say } from "./memory.ts";
import { recall } from "./recall/register.ts";
import { tools } from "./tools.ts";

export default function memorySessions(pi: ExtensionAPI): void {
	const memory = new Memory();
	const other = otherCopy(pi);
	if (other) {
		pi.on("session_start", (_event, ctx) => say(ctx, memory.words.secondCopy(other.here, other.there), "warning"));
		return;
	}
	capture(pi, memory);
	tools(pi, memory);
	recall(pi, memory);
}
