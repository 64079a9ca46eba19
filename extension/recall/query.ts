// The query line: words to search for, and filters among them, such as project:pi since:7d role:user.

import type { MemoryStore, Role, SessionSummary } from "../../index.js";
import { cut, day, titleOf } from "../format.ts";
import { codeOf, type Memory } from "../memory.ts";
import type { Words } from "../words.ts";

/** A query line, taken apart. */
export interface Query {
	/** What is left when the filters are out. */
	words: string;
	project?: string;
	session?: string;
	role?: Role;
	since?: string;
	until?: string;
	/** What could not be understood, for the person. */
	problems: string[];
}

const FILTERS = ["project", "since", "until", "role", "session"] as const;
type Filter = (typeof FILTERS)[number];

/** What is asked of the store for names. */
type Names = Pick<MemoryStore, "projects" | "sessions" | "read">;

/** Their own names, and what the screen calls them. */
const ROLES: Record<string, Role> = {
	user: "user",
	assistant: "assistant",
	tool_error: "tool_error",
	summary: "summary",
	you: "user",
	me: "user",
	pi: "assistant",
	model: "assistant",
	error: "tool_error",
	我: "user",
	模型: "assistant",
	错误: "tool_error",
	摘要: "summary",
};
const ROLE_CHOICES = ["user", "assistant", "tool_error", "summary"];
/** Completions offered at a time, and how long one is. */
const OFFERED = 8;
const LABEL = 24;
const TIME_CHOICES = ["today", "yesterday", "7d", "4w", "6m", "1y"];

/** Quoted text, a filter with its value, or anything else up to a space. */
const PIECES = /"[^"]*"?|(?<![^\s])(project|since|until|role|session)[:：]("[^"]*"?|\S*)|[^\s"]+|\s+/gu;

/** Takes a query line apart; the store says which project or session is meant by the beginning of a name. */
export function parseQuery(line: string, words: Words, store?: Names): Query {
	const query: Query = { words: "", problems: [] };
	for (const [piece, name, raw = ""] of line.matchAll(PIECES)) {
		const value = raw.replaceAll('"', "");
		if (!name) query.words += piece;
		else if (value !== "") apply(query, name as Filter, value, words, store);
	}
	query.words = query.words.trim().replaceAll(/\s+/g, " ");
	return query;
}

function apply(query: Query, name: Filter, value: string, words: Words, store?: Names): void {
	if (name === "session") query.session = sessionOf(value, store);
	else if (name === "project") query.project = projectOf(value, store);
	else if (name === "role") {
		const named = value.toLowerCase();
		if (Object.hasOwn(ROLES, named)) query.role = ROLES[named];
		else query.problems.push(words.screen.wrongRole(value));
	} else {
		const moment = momentOf(value, name === "until");
		if (moment) query[name] = moment;
		else query.problems.push(words.screen.wrongDate(value));
	}
}

/** The project meant by a name, as far as it is typed: that very one, else the last used that fits. */
function projectOf(value: string, store?: Names): string {
	if (/^[~/\\]|^[a-z]:[/\\]/i.test(value)) return value;
	const fitting = store?.projects({ query: value }) ?? [];
	const exact = fitting.some(({ project }) => project === value);
	return exact ? value : (fitting[0]?.project ?? value);
}

/** The session meant by an id or the beginning of one, else the last used one that is called so. */
function sessionOf(value: string, store?: Names): string {
	try {
		return store?.read(value, { before: 0, after: 0 }).session.id ?? value;
	} catch (error) {
		const called = codeOf(error as Error) === "NOT_FOUND" ? store?.sessions({ query: value, limit: 1 }) : [];
		return called?.[0]?.id ?? value;
	}
}

/** A date as the store wants it: ISO, or `today`, `yesterday`, `7d`, `3w`, `2m`, `1y`; a month stands for its days. */
export function momentOf(value: string, last: boolean, now = new Date()): string | undefined {
	const [, count, unit] = /^(\d{1,4})([dwmy天周月年])$/.exec(value) ?? [];
	// Counted in days of the calendar: not all of them have 24 hours.
	const daysAgo = (days: number) => day(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime());
	if (count && unit) {
		const span = { d: 1, w: 7, m: 30, y: 365, 天: 1, 周: 7, 月: 30, 年: 365 }[unit] ?? 1;
		return daysAgo(Number(count) * span);
	}
	if (value === "today" || value === "今天") return daysAgo(0);
	if (value === "yesterday" || value === "昨天") return daysAgo(1);
	const [, year, month] = /^(\d{4})(?:-(\d{2}))?$/.exec(value) ?? [];
	if (year) {
		if (month && (Number(month) < 1 || Number(month) > 12)) return undefined;
		if (!last) return `${year}-${month ?? "01"}-01`;
		return day(new Date(Number(year), month ? Number(month) : 12, 0).getTime());
	}
	if (!/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(value)) return undefined;
	const time = Date.parse(value);
	// 2026-02-30 is read as a day in March by some.
	const moved = value.length === 10 && !new Date(time || 0).toISOString().startsWith(value);
	return Number.isNaN(time) || moved ? undefined : value;
}

/** What the last piece of the line may become. */
export interface Completion {
	/** What the person sees. */
	label: string;
	/** What the piece becomes. */
	insert: string;
}

/** What the last piece of the line may become, best first. */
export function completions(line: string, { store, words }: Pick<Memory, "store" | "words">): Completion[] {
	const [, name, raw = ""] = /(?<![^\s])(project|since|until|role|session)[:：]("[^"]*|[^\s"]*)$/u.exec(line) ?? [];
	if (!name) {
		const [begun = ""] = /(?<![^\s])[a-z]+$/.exec(line) ?? [];
		// A name typed whole is as likely a word to search for.
		const fitting = begun.length < 2 ? [] : FILTERS.filter((one) => one.startsWith(begun) && one !== begun);
		return fitting.map((filter) => ({ label: `${filter}:`, insert: `${filter}:` }));
	}
	const value = raw.replaceAll('"', "");
	if (name === "session") return sessionsFor(value, store, words);
	const choices = {
		project: () => [...new Set(store.projects({ query: value }).map(({ project }) => project))],
		role: () => ROLE_CHOICES.filter((choice) => choice.startsWith(value)),
		since: () => TIME_CHOICES.filter((choice) => choice.startsWith(value)),
		until: () => TIME_CHOICES.filter((choice) => choice.startsWith(value)),
	}[name as Exclude<Filter, "session">]();
	return choices
		.filter((choice) => choice !== value)
		.slice(0, OFFERED)
		.map((choice) => {
			const insert = `${name}:${/\s/.test(choice) ? `"${choice}"` : choice} `;
			return { label: insert.trim(), insert };
		});
}

/** Sessions by their name, first words, folder or id: the name is what a person knows, the id what says which. */
function sessionsFor(value: string, store: MemoryStore, words: Words): Completion[] {
	const sessions = store.sessions({ query: value || undefined, limit: OFFERED });
	const byId = store.sessions({ limit: 200 }).filter(({ id }) => value !== "" && id.startsWith(value));
	return [...new Map([...byId, ...sessions].map((session) => [session.id, session])).values()]
		.filter(({ id }) => id !== value)
		.slice(0, OFFERED)
		.map((session) => ({ label: sessionLabel(session, words), insert: `session:${session.id} ` }));
}

/** A session in a word or two. */
export function sessionLabel(session: SessionSummary, words: Words): string {
	return cut(titleOf(session), LABEL) || words.screen.untitled;
}

/** The line with its last piece completed. */
export function complete(line: string, { insert }: Completion): string {
	return line.replace(/(?:(?:project|since|until|role|session)[:：](?:"[^"]*|[^\s"]*)|[a-z]+)$/u, "") + insert;
}
