// /recall: its subcommands, their completion, and the search that anything else is.

import type { ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";
import { mend } from "../capture.ts";
import { searchForPerson, sessionsForPerson } from "../format.ts";
import { type Memory, say } from "../memory.ts";
import type { Words } from "../words.ts";
import { type Answer, show } from "./answer.ts";
import { check, REPAIR } from "./check.ts";
import { fit } from "./columns.ts";
import { exportMarkdown } from "./export.ts";
import { find, findMore, isThin } from "./find.ts";
import { conditionsFor, forget, isForgetting } from "./forget.ts";
import { importSessions, pathsFor } from "./import.ts";
import { List } from "./list.ts";
import { openDialogs, openScreen } from "./open.ts";
import { pause } from "./pause.ts";
import { sessionLabel } from "./query.ts";
import { statsText } from "./stats.ts";

const RESULTS = 20;
const SESSIONS = 10;

interface Subcommand {
	about(words: Words): string;
	/** Whether the words after its name are for it; otherwise all of them are a search. */
	takes?(rest: string): boolean;
	run(memory: Memory, rest: string, ctx: ExtensionCommandContext): Promise<Answer | undefined>;
	/** What the words after its name may become. */
	complete?(memory: Memory, rest: string): Argument[] | Promise<Argument[]>;
}

interface Argument {
	value: string;
	/** How it is shown, where that is not the value itself. */
	label?: string;
}

const alone = (rest: string) => rest === "";

const SUBCOMMANDS: Record<string, Subcommand> = {
	import: { about: (words) => words.recallImport, run: importSessions, complete: (_memory, rest) => pathsFor(rest) },
	stats: { about: (words) => words.recallStats, takes: alone, run: stats },
	export: {
		about: (words) => words.recallExport,
		run: exportMarkdown,
		complete: (memory, rest) =>
			memory.store
				.sessions({ query: rest || undefined, limit: RESULTS })
				.map((session) => ({ value: session.id, label: sessionLabel(session, memory.words) })),
	},
	forget: {
		about: (words) => words.recallForget,
		takes: isForgetting,
		run: forget,
		complete: conditionsFor,
	},
	pause: { about: (words) => words.recallPause, takes: alone, run: pause },
	check: {
		about: (words) => words.recallCheck,
		takes: (rest) => rest === "" || rest === REPAIR,
		run: check,
		complete: (_memory, rest) => [REPAIR].filter((one) => one.startsWith(rest)).map((value) => ({ value })),
	},
};

/** Paints a first screen for nobody: code that never ran takes three times as long. */
export function rehearse(memory: Memory, ctx: ExtensionContext): void {
	const list = new List(ctx.ui.theme, memory.words);
	for (const rows of [1, 2]) {
		list.show(find(memory, ""), false);
		// oh-my-pi has no such function, and a name that is missing would keep all of this from loading.
		for (const line of list.render(60, 40, rows)) tui.compositeTuiLine?.("", fit(line, 120), 0, 120, 120);
	}
}

/** Runs /recall and shows its answer; whatever fails is said. */
export async function answer(memory: Memory, args: string, ctx: ExtensionCommandContext): Promise<void> {
	try {
		const found = await run(memory, args, ctx);
		if (found) show(found, ctx);
	} catch (error) {
		show({ text: memory.explain(error), data: { error: memory.explain(error) } }, ctx, "error");
	}
}

/** What may follow `/recall `: a subcommand, then its argument. */
export async function completions(memory: Memory, prefix: string) {
	const [, name = "", rest] = /^(\S*)(?:\s+(.*))?$/s.exec(prefix) ?? [];
	if (rest === undefined) {
		// What is typed whole is not offered: Enter would take the offer instead of running it.
		const fitting = Object.entries(SUBCOMMANDS).filter(([one]) => one.startsWith(name) && one !== name);
		return fitting.map(([one, { about }]) => ({ value: one, label: one, description: about(memory.words) }));
	}
	try {
		const offered = (await subcommandOf(name)?.complete?.(memory, rest)) ?? [];
		return offered
			.filter(({ value }) => value !== rest)
			.map(({ value, label = value }) => ({ value: `${name} ${value}`, label }));
	} catch {
		// Without a store there is nothing to complete with; the command itself says why.
		return [];
	}
}

function subcommandOf(name: string): Subcommand | undefined {
	return Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
}

/** A known subcommand; anything else is a search, nothing at all the latest sessions. */
async function run(memory: Memory, args: string, ctx: ExtensionCommandContext): Promise<Answer | undefined> {
	const [, name = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(args) ?? [];
	const subcommand = subcommandOf(name);
	mend(memory, ctx);
	if (subcommand && (subcommand.takes?.(rest) ?? true)) return subcommand.run(memory, rest, ctx);
	if (ctx.mode === "tui" || ctx.mode === "rpc") {
		const open = ctx.mode === "tui" ? openScreen : openDialogs;
		await open(memory, args, ctx);
		return undefined;
	}
	return list(memory, args, ctx);
}

/** Without anyone to choose: the same as text. */
async function list(memory: Memory, args: string, ctx: ExtensionCommandContext): Promise<Answer | undefined> {
	const found = find(memory, args);
	while (isThin(found)) findMore(memory, found);
	const { query, items, result, error } = found;
	if (error) {
		show({ text: error, data: { error } }, ctx, "error");
		return undefined;
	}
	for (const problem of query.problems) say(ctx, problem, "warning");
	if (!result) {
		const sessions = items.slice(0, SESSIONS).map(({ session }) => session);
		const waiting = sessions.length < SESSIONS ? await memory.waiting(ctx) : undefined;
		return { text: sessionsForPerson(sessions, memory.words, waiting, args !== ""), data: sessions };
	}
	const hits = result.hits.slice(0, RESULTS);
	const sessions = result.sessions.filter(({ id }) => hits.some(({ sessionId }) => sessionId === id));
	const waiting = hits.length === 0 ? await memory.waiting(ctx) : undefined;
	const shown = { ...result, hits, sessions };
	return { text: searchForPerson(args, shown, memory.words, waiting), data: shown };
}

async function stats(memory: Memory, _rest: string, ctx: ExtensionCommandContext): Promise<Answer> {
	const figures = await memory.store.stats();
	const waiting = await memory.waiting(ctx);
	return { text: statsText(figures, memory.words, waiting), data: { ...figures, waiting } };
}
