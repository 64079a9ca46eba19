// What the screen lists for a query line: hits under their sessions, or the latest sessions.

import type { Hit, SearchResult, SessionSummary } from "../../index.js";
import type { Memory } from "../memory.ts";
import { parseQuery, type Query } from "./query.ts";

/** A thing to select: a session, or a message found in it. */
export interface Item {
	session: SessionSummary;
	hit?: Hit;
}

export interface Found {
	query: Query;
	items: Item[];
	/** What the search said; absent where sessions are listed. */
	result?: SearchResult;
	/** Why there is nothing, when the store refused. */
	error?: string;
	/** Whether `findMore` may bring more. */
	more: boolean;
}

/** Messages or sessions brought at a time. */
const PAGE = 50;
/** Sessions shown because of their names, before the hits. */
const NAMED = 3;

/** Answers a query line. `here` is the project to stay in when the line names none. */
export function find(memory: Memory, line: string, here?: string): Found {
	const { store, words } = memory;
	const query = parseQuery(line, words, store);
	const found: Found = { query, items: [], more: false };
	try {
		if (query.words === "") listSessions(memory, found, here);
		else searchMessages(memory, found, here);
	} catch (error) {
		found.error = memory.explain(error);
	}
	return found;
}

/** Brings the next page into what was found. */
export function findMore(memory: Memory, found: Found, here?: string): void {
	if (!found.more) return;
	try {
		if (!found.result) {
			listSessions(memory, found, here);
			return;
		}
		const known = found.items.filter(({ hit }) => hit).length;
		const next = memory.store.search(found.query.words, { ...filters(found.query, here), limit: PAGE, offset: known });
		found.items.push(...itemsOf(next));
		found.more = next.hits.length === PAGE;
	} catch {
		// What is there already is shown on.
		found.more = false;
	}
}

function listSessions({ store }: Memory, found: Found, here?: string): void {
	const { query, items } = found;
	if (query.session) {
		const { session } = store.read(query.session, { before: 0, after: 0 });
		items.push({ session });
		return;
	}
	const page = store.sessions({ limit: PAGE, offset: items.length, project: query.project ?? here });
	const since = query.since ? Date.parse(localDay(query.since, false)) : Number.NEGATIVE_INFINITY;
	const until = query.until ? Date.parse(localDay(query.until, true)) : Number.POSITIVE_INFINITY;
	const fitting = page.filter(({ startedAt, lastAt }) => lastAt >= since && startedAt <= until);
	items.push(...fitting.map((session) => ({ session })));
	// With dates the next page would begin at a wrong place; whoever wants more adds words.
	found.more = page.length === PAGE && fitting.length === page.length;
}

function searchMessages({ store }: Memory, found: Found, here?: string): void {
	const { query } = found;
	const narrowed = filters(query, here);
	const result = store.search(query.words, { ...narrowed, limit: PAGE });
	found.result = result;
	found.items.push(...itemsOf(result));
	found.more = result.hits.length === PAGE;
}

/**
 * Puts sessions that are called so before the hits; gives how many. Every session's name is looked at, which takes
 * longer the more there are.
 */
export function addCalled({ store }: Memory, found: Found, here?: string): number {
	const { query, result, items } = found;
	if (!result || query.session) return 0;
	const said = query.words.toLowerCase().split(" ");
	const saysIt = (text: string) => said.every((word) => text.toLowerCase().includes(word));
	const none = result.hits.length === 0;
	// A session whose first words or folder have the query is found by its messages, or by too much.
	const called = store
		.sessions({ query: query.words, project: query.project ?? here, limit: PAGE })
		.filter(({ name, opening, cwd }) => none || (name && !saysIt(`${opening} ${cwd}`)))
		.slice(0, none ? PAGE : NAMED);
	items.unshift(...called.map((session) => ({ session })));
	return called.length;
}

function itemsOf(result: SearchResult): Item[] {
	return result.sessions.flatMap((session) =>
		result.hits.filter((hit) => hit.sessionId === session.id).map((hit) => ({ session, hit })),
	);
}

function filters(query: Query, here?: string) {
	const { session, role, since, until } = query;
	return { project: query.project ?? here, session, role, since, until, bySession: true };
}

/** A date without a time as the local day's beginning or end. */
function localDay(date: string, end: boolean): string {
	return date.length === 10 ? `${date}T${end ? "23:59:59.999" : "00:00:00"}` : date;
}
