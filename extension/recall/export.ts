// /recall export: a session, or what a search finds, as Markdown.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { MemoryStore, Message, SessionSummary } from "../../index.js";
import { day, minute, tilde, titleOf } from "../format.ts";
import { codeOf, type Memory } from "../memory.ts";
import type { Words } from "../words.ts";
import type { Answer } from "./answer.ts";

/** Messages read at a time. */
const PAGE = 500;
/** Messages of a search that are exported. */
const HITS = 100;

/** Writes a file into pi's folder; where there is no screen, the Markdown is the answer. */
export async function exportMarkdown(memory: Memory, rest: string, ctx: ExtensionCommandContext): Promise<Answer> {
	const { words, store } = memory;
	const subject = rest || memory.session;
	if (!subject) return { text: words.exportUsage, data: { error: words.exportUsage } };
	const markdown = sessionMarkdown(store, subject, words) ?? hitsMarkdown(store, subject, words);
	if (!markdown) return { text: words.noHit(subject), data: { error: words.noHit(subject) } };
	if (!ctx.hasUI) return { text: markdown, data: { markdown } };
	const file = freeFile(ctx.cwd, subject);
	// What was said may be private, like the store it comes from.
	writeFileSync(file, markdown, { flag: "wx", mode: 0o600 });
	return { text: words.exported(tilde(file)), data: { file } };
}

/** A session by its id or the beginning of it; nothing when `subject` is no session. */
function sessionMarkdown(store: MemoryStore, subject: string, words: Words): string | undefined {
	let window: ReturnType<MemoryStore["read"]>;
	try {
		window = store.read(subject, { before: PAGE, after: 0 });
	} catch (error) {
		if (["NOT_FOUND", "INVALID_ARGUMENT"].includes(codeOf(error as Error))) return undefined;
		throw error;
	}
	const { session } = window;
	let { messages, more } = window;
	while (more.before > 0 && messages[0]) {
		const earlier = store.read(session.id, { around: messages[0].id, before: PAGE, after: 0 });
		messages = [...earlier.messages.slice(0, -1), ...messages];
		more = earlier.more;
	}
	return [...headingOf(session, words), ...messages.flatMap(messageLines), ""].join("\n");
}

function hitsMarkdown(store: MemoryStore, query: string, words: Words): string | undefined {
	const { hits, sessions } = store.search(query, { limit: HITS });
	if (hits.length === 0) return undefined;
	const parts = sessions.flatMap((session) => {
		const ours = hits.filter((hit) => hit.sessionId === session.id).sort((a, b) => a.seq - b.seq);
		const whole = ours.flatMap((hit) => store.read(session.id, { around: hit.id, before: 0, after: 0 }).messages);
		return whole.length > 0 ? [...headingOf(session, words), ...whole.flatMap(messageLines)] : [];
	});
	return [...parts, ""].join("\n");
}

function headingOf(session: SessionSummary, words: Words): string[] {
	return [
		`# ${titleOf(session)}`,
		"",
		`${minute(session.startedAt)} · ${tilde(session.cwd)} · ${words.messages(session.messages)}`,
		`session=${session.id}`,
		"",
	];
}

function messageLines(message: Message): string[] {
	return [`## ${message.role} · ${minute(message.ts)}`, "", message.text, ""];
}

/** A file name that is not taken: recall-2026-10-15-cache-sharding-mgrx3k2a.md. */
function freeFile(folder: string, subject: string): string {
	const slug = subject
		.replaceAll(/[^\p{L}\p{N}]+/gu, "-")
		.replaceAll(/^-|-$/g, "")
		.slice(0, 40);
	return join(folder, `recall-${day(Date.now())}-${slug}-${Date.now().toString(36)}.md`);
}
