/**
 * pi-memory-sessions: every message of every pi session in one private SQLite store, found again.
 *
 * Times are unix milliseconds, sizes bytes, positions UTF-16 code units. Synchronous methods are short (a few
 * milliseconds); whatever can take longer returns a promise and works off the event loop. An option out of range is
 * clamped; one of the wrong kind throws. Every error is an `Error` with a sentence to act on and a `code`: see
 * {@link MemoryErrorCode}.
 *
 * ```js
 * const { MemoryStore } = require("pi-memory-sessions");
 * const store = new MemoryStore();
 * for (const hit of store.search("缓存 sharding").hits) console.log(hit.sessionId, hit.snippet);
 * store.close();
 * ```
 */

/**
 * What an error's `code` is.
 *
 * - `INVALID_ARGUMENT`: an argument of the wrong kind or without a meaning
 * - `NOT_FOUND`: no such session, message or file
 * - `AMBIGUOUS`: a session id prefix that several sessions share; the message lists them
 * - `NEWER_SCHEMA`: the store was made by a newer edition of this package
 * - `BUSY`: another process held the store for too long
 * - `IO`: the disk or its permissions refused
 * - `CORRUPT`: the database is damaged
 * - `CLOSED`: the store was closed
 * - `INTERNAL`: a fault of ours
 * - `ADDON_MISSING`: thrown by loading this package where no addon loads
 */
export type MemoryErrorCode =
	| "INVALID_ARGUMENT"
	| "NOT_FOUND"
	| "AMBIGUOUS"
	| "NEWER_SCHEMA"
	| "BUSY"
	| "IO"
	| "CORRUPT"
	| "CLOSED"
	| "INTERNAL"
	| "ADDON_MISSING";

/** A pi session, as pi's header and name entries describe it. */
export interface Session {
	id: string;
	/** The folder the session works in. */
	cwd: string;
	startedAt: number;
	name?: string;
	/** Absolute path of pi's .jsonl; absent when there is none. */
	file?: string;
	/** The file of the session this one was forked from, as pi's header has it. */
	parentFile?: string;
	/** The id of that session, when known. */
	parent?: string;
}

/** Who said it: the person, the model, a tool that failed, or a compaction's or branch's summary. */
export type Role = "user" | "assistant" | "tool_error" | "summary";

export interface StoreOptions {
	/** The database. Default: PI_MEMORY_DB, else ~/.pi/memory/sessions.db. */
	path?: string;
	/** Globs of folders; nothing said in a session under one of them is ever kept. Default none. */
	excludeFolders?: string[];
	/**
	 * Keep what other extensions tell the model (`custom_message` entries), as the user's words; pi's file brings it, by
	 * `tail` or `import`. What was read before stays as it was. Default false.
	 */
	keepExtensionMessages?: boolean;
}

export interface Captured {
	/** True when this call stored a message; false for a duplicate or an entry of which nothing is kept. */
	stored: boolean;
	/** The message's id in the store; null when nothing is kept. */
	id: number | null;
}

/** What a look at the end of a session's file brought. */
export interface Tail {
	/** Messages stored. */
	stored: number;
	/** Messages that were there and were mended: an entry id brought, a text rewritten, an order put right. */
	changed: number;
	/** Bytes still unread, when the file grew by more than a short call reads; `import({ from: file })` reads them. */
	behind: number;
}

/**
 * What a search leaves out, with its copies in other sessions:
 * a whole session; a session's messages from `fromSeq` on; or the messages of these entries and those of the session
 * that have no entry id yet (the present turn).
 */
export type Exclusion = string | { session: string; fromSeq: number } | { session: string; entries: string[] };

export interface SearchOptions {
	/** Messages to return, 1 to 100, default 10. */
	limit?: number;
	/** Messages to pass over first, for the next page. Default 0. */
	offset?: number;
	/** Only this project: an absolute cwd, a cwd with ~, or a bare folder name, which takes every project of that name. */
	project?: string;
	/** Only this session (id or an unambiguous prefix). */
	session?: string;
	/** Messages to leave out. */
	exclude?: Exclusion[];
	/** Only messages of this role. */
	role?: Role;
	/** Only messages from this time on. An ISO date without a time is a local day. */
	since?: number | string;
	/** Only messages until this time. An ISO date without a time is a local day and includes that day. */
	until?: number | string;
	/** Leave out what is never shown to a model: the person's `!!` commands. Default false. */
	forModel?: boolean;
	/**
	 * The hits will be shown by session: a session's hits after its sixth come after those of all others, so that a long
	 * session does not push out the rest. Default false: by score alone.
	 */
	bySession?: boolean;
}

export interface Hit {
	/** The message's id in the store; it never changes. */
	id: number;
	sessionId: string;
	/** The message's place in its session, from 1. */
	seq: number;
	/** pi's entry id, when known. */
	entryId?: string;
	ts: number;
	role: Role;
	/** Higher is better; comparable within one result only. */
	score: number;
	/** About 300 characters around the best passage, whitespace folded. */
	snippet: string;
	/** [start, end) pairs in snippet. */
	marks: [number, number][];
	/** Other sessions that hold a copy of this message (forks). */
	copies: string[];
}

export interface SessionSummary extends Session {
	/** The project's name: the last part of its cwd. */
	project: string;
	/** The time of its latest message. */
	lastAt: number;
	messages: number;
	/** The first words the user said in it. */
	opening: string;
	/** In a search result: its messages that match. */
	matches?: number;
}

export interface SearchResult {
	hits: Hit[];
	/** The sessions of the hits, best first. */
	sessions: SessionSummary[];
	/** "all": the best hit has every term of the query; "some": it has only some; "none": no hit. */
	tier: "all" | "some" | "none";
	/** Words (or single characters of unspaced scripts) of the query that no stored message has. */
	missing: string[];
	/**
	 * Matching messages, counted up to a cap; `totalIsCapped` says that there are more. With `forModel`, or single entries
	 * excluded, it may count some that these leave out.
	 */
	total: number;
	totalIsCapped: boolean;
	/** False when a bound cut the search short (a phrase of very common words, say). */
	complete: boolean;
	/** What was searched. */
	searched: { messages: number; sessions: number; oldest?: number };
	tookMs: number;
}

export interface ReadOptions {
	/** Message id to centre on; default the session's last message. It must be of that session. */
	around?: number;
	/** Messages before it, default 4. */
	before?: number;
	/** Messages after it, default 6. */
	after?: number;
	/** Mark this query's terms in the texts. */
	highlight?: string;
	/** Leave out what is never shown to a model: the person's `!!` commands. Default false. */
	forModel?: boolean;
}

export interface Message {
	id: number;
	seq: number;
	entryId?: string;
	ts: number;
	role: Role;
	/** Markdown. */
	text: string;
	/** The text was cut at 20,000 characters when it was kept. */
	truncated: boolean;
	/** [start, end) pairs in text, when `highlight` was given. */
	marks?: [number, number][];
}

/** Consecutive messages of one branch of a session, and how many lie before and after. */
export interface Window {
	session: SessionSummary;
	messages: Message[];
	more: { before: number; after: number };
}

export interface ImportOptions {
	/**
	 * Folders, session files, or another store (.db). Default: the folder PI_MEMORY_SESSIONS_DIR names, alone; without
	 * it every place pi and omp keep sessions, and the folders of sessions already known.
	 */
	from?: string | string[];
	/** Folders to look in beside the default ones; not looked at when `from` is given. */
	also?: string[];
	/** What it throws is the caller's: nobody catches it. */
	onProgress?: (progress: ImportProgress) => void;
	/** Ends the import early; what is stored stays. */
	signal?: AbortSignal;
}

export interface ImportProgress {
	files: number;
	filesDone: number;
	bytes: number;
	bytesDone: number;
	stored: number;
}

export interface ImportReport {
	/** The folders that were looked in. */
	folders: string[];
	files: number;
	sessions: number;
	stored: number;
	duplicates: number;
	bytes: number;
	elapsedMs: number;
	cancelled: boolean;
	/** One item per thing left out: where, why. Nothing is skipped silently. */
	skipped: { file: string; line?: number; reason: string }[];
	/** Entries of types nobody knows, counted by type. */
	unknownTypes: Record<string, number>;
}

/** Session files that are not, or not wholly, in the store. */
export interface Waiting {
	files: number;
	/** Session files there are, those waiting among them. */
	all: number;
	bytes: number;
	/** The folders that were looked in. */
	folders: string[];
}

export interface Stats {
	path: string;
	/** Size of the database and its log. */
	bytes: number;
	schema: number;
	messages: number;
	sessions: number;
	projects: number;
	oldest?: number;
	newest?: number;
	/** Messages per local week, oldest first; a week without any is not there. */
	weeks: { start: number; messages: number }[];
	/** Busiest first. */
	topProjects: { project: string; sessions: number; messages: number }[];
}

/** Combined conditions must all hold; none at all is refused. */
export interface ForgetOptions {
	session?: string;
	message?: number;
	project?: string;
	since?: number | string;
	until?: number | string;
	/** Only say what would go. */
	dryRun?: boolean;
}

export interface ForgetReport {
	sessions: number;
	messages: number;
	/** pi's own files that still hold the text, and damaged stores set aside (`.corrupt-…`), which may. */
	stillIn: string[];
}

export interface Health {
	ok: boolean;
	problems: string[];
	repaired: string[];
}

/** The store: one SQLite database that many processes may have open at once. */
export class MemoryStore {
	/** Opens or creates the store. */
	constructor(options?: StoreOptions);

	/** Says what is known of a session (again, when a name or file becomes known). It appears in results once it holds a message. */
	begin(session: Session): void;

	/**
	 * Stores one message at once. `entry` is a line of pi's session file as an object, or a bare message as pi's
	 * `message_end` event carries it. A session that `begin` never named is created.
	 */
	capture(sessionId: string, entry: object): Captured;

	/** Reads what a session's file has beyond what was read before, for a few milliseconds: brings entry ids and mends what the events missed. */
	tail(sessionId: string, file: string): Tail;

	/** Keeps nothing of this session from now on; neither capture, tail nor import brings it in later. */
	pause(sessionId: string): void;

	/** Keeps this session's messages again, from now on. */
	resume(sessionId: string): void;

	/** Whether this session is paused. */
	paused(sessionId: string): boolean;

	/** Ranks messages and sessions for a query. No character of the query is an operator but a pair of quotes: quoted text must occur as written. */
	search(query: string, options?: SearchOptions): SearchResult;

	/**
	 * What a word that is still being typed may become: at most eight words that messages have and that begin so, the most
	 * frequent first; English ones as their stems. Nothing where `typed` is not one word of two letters or more.
	 */
	words(typed: string): string[];

	/** The messages around one of a session. `sessionId` may be an unambiguous prefix. */
	read(sessionId: string, options?: ReadOptions): Window;

	/** The sessions last active, newest first; `query` narrows by name, opening and project, Han also by pinyin: `qzh` finds 签证. */
	sessions(options?: { limit?: number; offset?: number; project?: string; query?: string }): SessionSummary[];

	/** The projects, last active first; `query` narrows by folder, Han also by pinyin. */
	projects(options?: { query?: string }): { project: string; cwd: string; sessions: number; lastAt: number }[];

	/** Reads what is new in pi's session files, in short transactions. */
	import(options?: ImportOptions): Promise<ImportReport>;

	/** Session files not yet imported: a walk of the folders only, no file is read. */
	waiting(options?: { from?: string | string[]; also?: string[] }): Promise<Waiting>;

	/** Forgets messages for good: they are gone from the database's bytes, and import and capture do not bring them back. */
	forget(options: ForgetOptions): Promise<ForgetReport>;

	/** Looks for damage, and repairs it when asked. */
	check(options?: { repair?: boolean }): Promise<Health>;

	/** Size, counts, and how messages spread over weeks and projects. */
	stats(): Promise<Stats>;

	/** Something the person is to be told once, that the store was repaired, say; absent when there is nothing (more). */
	notice(): string | undefined;

	/** Closes the store; later calls throw `CLOSED`. */
	close(): void;
}
