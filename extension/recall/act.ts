// What the person chose: going back to where it was said, branching off there, taking an excerpt along.

import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { ExtensionCommandContext, Theme } from "@earendil-works/pi-coding-agent";
import type { Message, SessionSummary } from "../../index.js";
import { cut, minute, tilde, titleOf } from "../format.ts";
import type { Memory } from "../memory.ts";
import { say } from "../memory.ts";
import type { Words } from "../words.ts";
import { fit } from "./columns.ts";
import { type Item, SNIPPET } from "./find.ts";
import { importSessions } from "./import.ts";
import { passage, plain, plainLine } from "./paint.ts";
import { PASSAGE_WIDGET } from "./passage.ts";
import type { Choice } from "./screen.ts";

const PASSAGE_LINES = 4;
/** A quoted excerpt's length in characters. */
const EXCERPT = 1_200;
const CHUNK = 1 << 20;

/** Does what was chosen. */
export async function carryOut(choice: Choice, memory: Memory, ctx: ExtensionCommandContext): Promise<void> {
	if (choice.do === "import") {
		await importSessions(memory, "", ctx);
		return;
	}
	const { words } = memory;
	const { item, message } = choice;
	if (choice.do === "quote") {
		const written = ctx.ui.getEditorText();
		ctx.ui.setEditorText(
			`${written ? `${written.trimEnd()}\n\n` : ""}${excerpt(choice.item, choice.message, words)}\n`,
		);
		// The editor's text alone is not painted before the next key.
		ctx.ui.setWidget(PASSAGE_WIDGET, undefined);
		return;
	}
	if (!(await mayLeave(words, ctx))) return;
	if (choice.do === "new") {
		const text = `${excerpt(choice.item, choice.message, words)}\n`;
		await ctx.newSession({ withSession: async (there) => there.ui.setEditorText(text) });
		return;
	}
	const file = item.session.file ?? "";
	const present = ctx.sessionManager.getSessionFile();
	const isHere = present !== undefined && resolve(ctx.cwd, present) === file;
	// pi begins a new session in a path where none is, and ends when a file or an entry is not what it seems.
	const wrong = faultOf(file, item.session, choice.do === "fork" ? message?.entryId : undefined, words);
	if (wrong) return say(ctx, wrong, "error");

	if (choice.do === "fork") {
		const entry = message?.entryId;
		if (!entry) return say(ctx, words.screen.noEntry, "error");
		const arrived = async (there: ExtensionCommandContext) => showPassage(choice, words.screen.forked, words, there);
		const fork = async (there: ExtensionCommandContext) => {
			await there.fork(entry, { position: "at", withSession: arrived });
		};
		if (isHere) await fork(ctx);
		else await ctx.switchSession(file, { withSession: fork });
		return;
	}
	const arrive = async (there: ExtensionCommandContext) => showPassage(choice, words.screen.saidHere, words, there);
	if (isHere) {
		say(ctx, words.screen.alreadyHere);
		await arrive(ctx);
	} else await ctx.switchSession(file, { withSession: arrive });
}

/** A running answer would end with its session: that is asked first. */
async function mayLeave(words: Words, ctx: ExtensionCommandContext): Promise<boolean> {
	return ctx.isIdle() || (await ctx.ui.confirm(words.screen.busyTitle, words.screen.busy));
}

/** The passage above the editor, since the session opens at its end. */
function showPassage(
	{ item: { hit }, message }: { item: Item; message?: Message },
	what: string,
	words: Words,
	ctx: ExtensionCommandContext,
): void {
	const shown = hit ?? (message && { ...message, snippet: cut(message.text, SNIPPET), marks: [] });
	if (!shown) return;
	const { snippet, marks } = shown;
	const heading = `${words.screen.roles[shown.role]} · ${minute(shown.ts)} · ${what}`;
	if (ctx.mode !== "tui") {
		ctx.ui.setWidget(PASSAGE_WIDGET, [heading, plainLine(snippet)]);
		return;
	}
	ctx.ui.setWidget(PASSAGE_WIDGET, (_tui, theme: Theme) => ({
		invalidate() {},
		render: (width: number) => [
			fit(theme.fg("dim", ` ▎${heading}`), width),
			...passage(snippet, marks, width - 3, PASSAGE_LINES, theme).map((line) =>
				fit(`${theme.fg("accent", " ▎")}${line}`, width),
			),
		],
	}));
}

/** A message, or the part of a long one that answers, as a quotation with its origin. */
export function excerpt(item: Item, message: Message, words: Words): string {
	const { session } = item;
	const at = message.marks?.[0]?.[0] ?? 0;
	const start = message.text.length <= EXCERPT ? 0 : message.text.lastIndexOf("\n", Math.max(0, at - EXCERPT / 3)) + 1;
	const part = cut(message.text.slice(start), EXCERPT);
	const quoted = plain(part)
		.trim()
		.split("\n")
		.map((line) => `> ${line}`.trimEnd());
	const title = plainLine(titleOf(session));
	const origin = `${words.screen.roles[message.role]}, ${minute(message.ts)}, ${plainLine(session.project)}, “${cut(title, 60)}” (${session.id})`;
	return [...quoted, `> — ${origin}`].join("\n");
}

/** Why a session's file cannot be opened, or not at that entry. */
function faultOf(file: string, session: SessionSummary, entry: string | undefined, words: Words): string | undefined {
	if (!existsSync(file)) return words.screen.fileGone;
	const id = headerId(file);
	if (id !== session.id) return words.screen.otherSession(tilde(file));
	if (entry !== undefined && !holdsEntry(file, entry)) return words.screen.entryGone;
	return undefined;
}

/** The session id in a file's header: its first line, or the second where a title comes first. */
function headerId(file: string): string | undefined {
	// Taken apart and not asked with next(): that also closes the file.
	const [beginning = ""] = chunks(file);
	for (const line of beginning.split("\n", 3)) {
		try {
			const record = JSON.parse(line);
			if (record.type === "session") return record.id;
		} catch {
			// No header then.
		}
	}
	return undefined;
}

function holdsEntry(file: string, entry: string): boolean {
	const wanted = new RegExp(`"id"\\s*:\\s*"${entry.replaceAll(/[^\w-]/g, "\\$&")}"`);
	let rest = "";
	for (const chunk of chunks(file)) {
		const text = rest + chunk;
		if (wanted.test(text)) return true;
		rest = text.slice(-200);
	}
	return false;
}

/** The file in pieces; closed when the last was taken, or no more are. */
function* chunks(file: string): Generator<string, void> {
	const descriptor = openSync(file, "r");
	try {
		const buffer = Buffer.alloc(CHUNK);
		for (;;) {
			const length = readSync(descriptor, buffer);
			if (length === 0) return;
			yield buffer.toString("utf8", 0, length);
		}
	} finally {
		closeSync(descriptor);
	}
}
