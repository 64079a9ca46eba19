// /recall: the person's way to what was said.

import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { mend } from "../capture.ts";
import { searchForPerson, sessionsForPerson } from "../format.ts";
import type { Memory } from "../memory.ts";
import { type Answer, show } from "./answer.ts";
import { importSessions } from "./import.ts";
import { statsText } from "./stats.ts";

const RESULTS = 20;
const SESSIONS = 10;

type Subcommand = (memory: Memory, rest: string, ctx: ExtensionCommandContext) => Promise<Answer | undefined>;

const SUBCOMMANDS: Record<string, Subcommand> = {
	import: importSessions,
	stats: async (memory) => {
		const stats = memory.store.stats();
		return { text: statsText(stats, memory.words), data: stats };
	},
};

/** Registers /recall. */
export function recall(pi: ExtensionAPI, memory: Memory): void {
	const { words } = memory;
	const about: Record<string, string> = { import: words.recallImport, stats: words.recallStats };
	pi.registerCommand("recall", {
		description: words.recall,
		getArgumentCompletions: (prefix) => {
			const fitting = Object.keys(SUBCOMMANDS).filter((name) => name.startsWith(prefix));
			return fitting.map((name) => ({ value: name, label: name, description: about[name] }));
		},
		handler: async (args, ctx) => {
			try {
				const answer = await run(memory, args.trim(), ctx);
				if (answer) show(answer, ctx);
			} catch (error) {
				show({ text: memory.explain(error), data: { error: memory.explain(error) } }, ctx, "error");
			}
		},
	});
}

/** A known subcommand; anything else is a search, nothing at all the latest sessions. */
async function run(memory: Memory, args: string, ctx: ExtensionCommandContext): Promise<Answer | undefined> {
	const [, name = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(args) ?? [];
	const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
	mend(memory, ctx);
	if (subcommand) return subcommand(memory, rest, ctx);
	if (args === "") {
		const sessions = memory.store.sessions({ limit: SESSIONS });
		const waiting = sessions.length < SESSIONS ? await memory.waiting(ctx) : undefined;
		return { text: sessionsForPerson(sessions, memory.words, waiting), data: sessions };
	}
	const result = memory.store.search(args, { limit: RESULTS });
	const waiting = result.hits.length === 0 ? await memory.waiting(ctx) : undefined;
	return { text: searchForPerson(args, result, memory.words, waiting), data: result };
}
