// pi-memory-sessions: a memory for pi. Keeps every message of every session in a private store;
// the model finds them with session_search and session_read, the person with /recall.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { capture } from "./capture.ts";
import { Memory } from "./memory.ts";
import { recall } from "./recall/register.ts";
import { tools } from "./tools.ts";

export default function memorySessions(pi: ExtensionAPI): void {
	const memory = new Memory();
	capture(pi, memory);
	tools(pi, memory);
	recall(pi, memory);
}
