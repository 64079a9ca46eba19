// What the screen lists for a query line: hits under their sessions, or the latest sessions.

import type { Hit, MemoryStore, Message, SearchResult, SessionSummary } from "../../index.js";
import { cut } from "../format.ts";
import type { Memory } from "../memory.ts";
import { fold } from "./fold.ts";
import { parseQuery, type Query } from "./query.ts";

/** A thing to select: a session, or a message found in it. */
export interface Item {
	session: SessionSummary;
	hit?: Hit;
	/** Further hits that say nearly the same, which are not listed. */
	alike?: number;
}

export interface Found {
	query: Query;
	items: Item[];
	/** The words searched for: the query's, the last of them as what it may become while it is typed. */
	words: string;
	/** That last word, as far as it is typed. */
	begun?: string;
	/** What the search said; absent where sessions are listed. */
	result?: SearchResult;
	/** Why there is nothing, when the store refused. */
	error?: string;
	/** Whether `findMore` may bring more. */
	more: boolean;
	/** Latest sessions that were looked at, where no words are searched for. */
	passed: number;
	/** The one of them that has messages before `from` which were not. */
	unread?: { session: SessionSummary; from: number };
	/** Pages brought. */
	pages: number;
}

/** Messages or sessions brought at a time; at first about what a screen shows. */
const PAGE = 50;
const FIRST = 25;
/** Sessions shown because of their names, before the hits. */
const NAMED = 3;
/** Messages that are read at a time to list those of a role: less than a frame takes. */
const READ = 500;
/** A list is filled up to this many, within this many pages. */
const ENOUGH = 20;
const FILL_PAGES = 40;
/** What stands there of a message that no search found, in characters. */
export const SNIPPET = 300;

/** Letters and digits at the end of the line, where no space ends the word yet. */
const TYPED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]{2,}$/u;

/**
 * Answers a query line. `here` is the project to stay in when the line names none; `typing` says that its last word may
 * not be whole.
 */
export function find(memory: Memory, line: string, here?: string, typing = false): Found {
	const query = parseQuery(line, memory.words);
	const found: Found = { query, words: query.words, items: [], more: false, passed: 0, pages: 0 };
	try {
		found.query = parseQuery(line, memory.words, memory.store);
		found.words = found.query.words;
		bring(memory, found, here);
		if (typing) completeWord(memory, found, line, here);
	} catch (error) {
		found.error = memory.explain(error);
	}
	return found;
}

/** Searches anew for what the last word may become, when nothing has it as it is. */
function completeWord(memory: Memory, found: Found, line: string, here?: string): void {
	const { query, result } = found;
	const [begun] = TYPED.exec(line) ?? [];
	if (!result || !begun || !query.words.endsWith(begun)) return;
	if (result.missing.at(-1)?.toLowerCase() !== begun.toLowerCase()) return;
	const start = performance.now();
	const words = memory.store.words(begun);
	if (words.length === 0) return;
	found.begun = begun;
	found.words = query.words.slice(0, -begun.length) + words.join(" ");
	// Nothing was brought for the word as it is but what the other words have: that comes again, in another order.
	found.items = [];
	found.result = undefined;
	searchMessages(memory, found, here).tookMs = result.tookMs + performance.now() - start;
}

/** Brings the next page into what was found. */
export function findMore(memory: Memory, found: Found, here?: string): void {
	if (!found.more) return;
	try {
		bring(memory, found, here);
	} catch {
		// What is there already is shown on.
		found.more = false;
	}
}

/** Whether a page brought little and others may bring more: a role is rare, the messages read at a time are few. */
export function isThin(found: Found): boolean {
	return found.more && found.items.length < ENOUGH && found.pages < FILL_PAGES;
}

/** Words are searched for; a role alone lists its messages and other filters sessions, the latest first. */
function bring(memory: Memory, found: Found, here?: string): void {
	found.pages += 1;
	if (found.query.words !== "") searchMessages(memory, found, here);
	else if (found.query.role) listMessages(memory, found, here);
	else listSessions(memory, found, here);
}

function searchMessages({ store }: Memory, found: Found, here?: string): SearchResult {
	const { query, items } = found;
	const offset = items.reduce((sum, { hit, alike = 0 }) => sum + (hit ? 1 + alike : 0), 0);
	const limit = offset === 0 ? FIRST : PAGE;
	const result = store.search(found.words, { ...filters(query, here), limit, offset });
	found.result ??= result;
	items.push(...itemsOf(result));
	found.more = result.hits.length === limit;
	return result;
}

function listSessions({ store }: Memory, found: Found, here?: string): void {
	const wanted = found.items.length + PAGE;
	for (const session of latest(store, found, here)) {
		found.items.push({ session });
		if (found.items.length === wanted) return;
	}
}

function listMessages({ store }: Memory, found: Found, here?: string): void {
	const start = performance.now();
	const { query } = found;
	const { since, until } = spanOf(query);
	found.result ??= nothingYet();
	const { hits, sessions, searched } = found.result;
	const wanted = { hits: hits.length + PAGE, read: searched.messages + READ };
	let begun = found.unread?.session;
	for (const { session, messages } of latestMessages(store, found, here)) {
		const ours = messages
			.filter(({ role, ts }) => role === query.role && ts >= since && ts <= until)
			.reverse()
			.map((message) => hitOf(session, message));
		hits.push(...ours);
		found.items.push(...ours.map((hit) => ({ session, hit })));
		if (ours.length > 0 && sessions.at(-1) !== session) sessions.push(session);
		searched.messages += messages.length;
		if (session !== begun) searched.sessions += 1;
		begun = session;
		searched.oldest = session.startedAt;
		if (hits.length >= wanted.hits || searched.messages >= wanted.read) break;
	}
	found.more ||= found.unread !== undefined;
	Object.assign(found.result, { total: hits.length, totalIsCapped: found.more });
	found.result.tookMs += performance.now() - start;
}

interface Page {
	session: SessionSummary;
	messages: Message[];
}

/** The messages of the sessions that meet the filters, in pages, on from those looked at before. */
function* latestMessages(store: MemoryStore, found: Found, here?: string): Generator<Page, void> {
	if (found.unread) yield* pagesOf(store, found, found.unread.session, found.unread.from);
	for (const session of latest(store, found, here)) yield* pagesOf(store, found, session);
}

/** A session's messages before `from`, or all of them, the last page first. */
function* pagesOf(store: MemoryStore, found: Found, session: SessionSummary, from?: number): Generator<Page, void> {
	do {
		const { messages, more } = store.read(session.id, { around: from, before: READ, after: 0 });
		const unread = from === undefined ? messages : messages.slice(0, -1);
		from = more.before > 0 && unread.length > 0 ? messages[0]?.id : undefined;
		found.unread = from === undefined ? undefined : { session, from };
		yield { session, messages: unread };
	} while (from !== undefined);
}

/** The sessions that meet the filters, the latest first, on from those looked at before. */
function* latest(store: MemoryStore, found: Found, here?: string): Generator<SessionSummary, void> {
	const { query } = found;
	found.more = query.session === undefined;
	if (query.session !== undefined) {
		if (found.passed > 0) return;
		found.passed = 1;
		yield store.read(query.session, { before: 0, after: 0 }).session;
		return;
	}
	const { since, until } = spanOf(query);
	// What was looked at before is passed over anew for each page: larger ones keep that small.
	for (let limit = PAGE; ; limit *= 2) {
		const page = store.sessions({ limit, offset: found.passed, project: query.project ?? here });
		for (const session of page) {
			found.passed += 1;
			if (session.lastAt < since) {
				found.more = false;
				return;
			}
			if (session.startedAt <= until) yield session;
		}
		if (page.length < limit) {
			found.more = false;
			return;
		}
	}
}

function nothingYet(): SearchResult {
	const searched = { messages: 0, sessions: 0 };
	return {
		hits: [],
		sessions: [],
		tier: "all",
		missing: [],
		total: 0,
		totalIsCapped: false,
		complete: true,
		searched,
		tookMs: 0,
	};
}

/** A message as if it had been searched for. */
function hitOf(session: SessionSummary, { text, truncated: _, ...message }: Message): Hit {
	const snippet = cut(text.replaceAll(/\s+/g, " ").trim(), SNIPPET);
	return { ...message, sessionId: session.id, score: 0, snippet, marks: [], copies: [] };
}

/**
 * Puts sessions that are called so before the hits, unless messages of a role are asked for; gives how many. Every
 * session's name is looked at, which takes longer the more there are.
 */
export function addCalled({ store }: Memory, found: Found, here?: string): number {
	const { query, result, items } = found;
	if (!result || query.session || query.role || query.words === "") return 0;
	const { since, until } = spanOf(query);
	const said = query.words.toLowerCase().split(" ");
	const saysIt = (text: string) => said.every((word) => text.toLowerCase().includes(word));
	const none = result.hits.length === 0;
	// A session whose first words or folder have the query is found by its messages, or by too much.
	const called = store
		.sessions({ query: query.words, project: query.project ?? here, limit: PAGE })
		.filter(({ startedAt, lastAt }) => startedAt <= until && lastAt >= since)
		.filter(({ name, opening, cwd }) => none || (name && !saysIt(`${opening} ${cwd}`)))
		.slice(0, none ? PAGE : NAMED);
	items.unshift(...called.map((session) => ({ session })));
	return called.length;
}

function itemsOf(result: SearchResult): Item[] {
	return result.sessions.flatMap((session) =>
		fold(result.hits.filter((hit) => hit.sessionId === session.id).map((hit) => ({ session, hit }))),
	);
}

function filters(query: Query, here?: string) {
	const { session, role, since, until } = query;
	return { project: query.project ?? here, session, role, since, until, bySession: true };
}

/** The time the filters leave, both ends included. */
function spanOf({ since, until }: Query): { since: number; until: number } {
	return {
		since: since ? Date.parse(localDay(since, false)) : Number.NEGATIVE_INFINITY,
		until: until ? Date.parse(localDay(until, true)) : Number.POSITIVE_INFINITY,
	};
}

/** A date without a time as the local day's beginning or end. */
function localDay(date: string, end: boolean): string {
	return date.length === 10 ? `${date}T${end ? "23:59:59.999" : "00:00:00"}` : date;
}
