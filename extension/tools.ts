// The model's two tools: session_search finds, session_read reads on.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Static, Type } from "typebox";
import type { Exclusion } from "../index.js";
import { mend } from "./capture.ts";
import { cut, readForModel, searchForModel, titleOf } from "./format.ts";
import { type Memory, say } from "./memory.ts";
import { renderers } from "./render.ts";

const SearchParameters = Type.Object({
	query: Type.String({ description: 'Keywords, not a sentence. "Quoted text" must occur as written.' }),
	limit: Type.Optional(Type.Number({ description: "Messages to return, default 10, at most 20." })),
	project: Type.Optional(
		Type.String({
			description: 'Only this project: a folder (absolute or with ~), a bare folder name, or "." for the present one.',
		}),
	),
	since: Type.Optional(Type.String({ description: "Only messages from this ISO date on, such as 2026-10-01." })),
});

const ReadParameters = Type.Object({
	session_id: Type.String({ description: "The session, as session_search gave it; an unambiguous prefix will do." }),
	around_msg_id: Type.Optional(
		Type.Number({ description: "The message to read around, a msg_id; default the session's last." }),
	),
	before: Type.Optional(Type.Number({ description: "Messages before it, default 4." })),
	after: Type.Optional(Type.Number({ description: "Messages after it, default 6." })),
});

type SearchArgs = Static<typeof SearchParameters>;
type ReadArgs = Static<typeof ReadParameters>;

/** What the person's screen says of a call; the rest of the result is the model's. */
type SearchDetails = { total: number; totalIsCapped: boolean; sessions: number; tookMs: number } | Failure;
type ReadDetails = { messages: number; title?: string } | Failure;
interface Failure {
	error: string;
}

const SEARCH_MOST = 20;
const READ_MOST = 50;
/** How much of a session's title stands in the line of a call. */
const TITLE = 40;

/**
 * Registers both tools, also when memory is off: they then say why. At the session's start and not while pi loads:
 * there two extensions with a tool of one name stop pi, here the one that has it is seen.
 */
export function tools(pi: ExtensionAPI, memory: Memory): void {
	const search = `${memory.config.toolPrefix}session_search`;
	const read = `${memory.config.toolPrefix}session_read`;
	let registered = false;
	pi.on("session_start", (_event, ctx) => {
		if (registered) return;
		const taken = pi.getAllTools().find(({ name }) => name === search || name === read);
		if (taken) {
			say(ctx, memory.words.toolTaken(taken.name, taken.sourceInfo.path, memory.configFile), "warning");
			return;
		}
		register(pi, memory, search, read);
		registered = true;
	});
}

function register(pi: ExtensionAPI, memory: Memory, search: string, read: string): void {
	const { words } = memory;

	pi.registerTool({
		name: search,
		label: "Search past sessions",
		description:
			"Searches everything said in past pi sessions with this user, by keywords, in any language. " +
			'When the user says "last time", "before", 上次, 之前 or 以前那个, search first. Pass keywords, not whole sentences.',
		promptSnippet: "Search what was said in past sessions, by keywords",
		promptGuidelines: [
			`Use ${search} first when the user refers to something said or done earlier ("last time", "before", "we decided", 上次, 之前, 以前那个) that is not in this conversation`,
			`Pass ${search} a few distinctive keywords in the language they were said in, not a sentence; try other keywords before saying that nothing was found`,
		],
		parameters: SearchParameters,
		annotations: { readOnlyHint: true },
		execute: (_id, params, _signal, _update, ctx) => answer(memory, () => runSearch(memory, params, ctx)),
		...renderers<SearchArgs, SearchDetails>(
			search,
			({ query = "", project, since }) => [`"${query}"`, project, since].filter(Boolean).join(" "),
			(details) =>
				"error" in details
					? details.error
					: `${words.hits(words.messages(details.total, details.totalIsCapped), details.sessions)} · ${details.tookMs.toFixed(1)} ms`,
		),
	});

	pi.registerTool({
		name: read,
		label: "Read a past session",
		description: `Reads a past session around a message that ${search} found.`,
		promptSnippet: "Read a past session around a message",
		promptGuidelines: [`Use ${read} to read around a ${search} hit before relying on it`],
		parameters: ReadParameters,
		annotations: { readOnlyHint: true },
		execute: (_id, params) => answer(memory, () => runRead(memory, params)),
		...renderers<ReadArgs, ReadDetails>(
			read,
			({ session_id = "", around_msg_id }) =>
				[session_id, around_msg_id && `#${around_msg_id}`].filter(Boolean).join(" "),
			(details) =>
				"error" in details
					? details.error
					: [words.messages(details.messages), details.title].filter(Boolean).join(" · "),
		),
	});
}

async function runSearch(memory: Memory, params: SearchArgs, ctx: ExtensionContext) {
	const { store } = memory;
	// The present turn is in the file by now: it gets its entry ids, and is not taken for a session still to import.
	mend(memory, ctx);
	const limit = Math.min(Math.max(Math.trunc(params.limit ?? 10) || 1, 1), SEARCH_MOST);
	const result = store.search(params.query, {
		limit,
		project: projectOf(memory, params.project, ctx),
		since: params.since || undefined,
		exclude: presentContext(memory, ctx),
		forModel: true,
		bySession: true,
	});
	const waiting = result.hits.length === 0 ? await memory.waiting(ctx) : undefined;
	const { total, totalIsCapped, tookMs, sessions } = result;
	return {
		text: searchForModel(params.query, result, waiting),
		details: { total, totalIsCapped, tookMs, sessions: sessions.length },
	};
}

async function runRead(memory: Memory, params: ReadArgs) {
	const window = memory.store.read(params.session_id, {
		around: params.around_msg_id,
		before: within(params.before ?? 4),
		after: within(params.after ?? 6),
		forModel: true,
	});
	const details = { messages: window.messages.length, title: cut(titleOf(window.session), TITLE) };
	return { text: readForModel(window, params.around_msg_id), details };
}

/** The project to search in: what the model named, else what the settings say. */
function projectOf(memory: Memory, named: string | undefined, ctx: ExtensionContext): string | undefined {
	if (named === ".") return ctx.cwd;
	if (named === "*" || named === "all") return undefined;
	return named || (memory.config.searchAllProjects ? undefined : ctx.cwd);
}

/** What the model has before its eyes: searching finds what it does not. */
function presentContext(memory: Memory, ctx: ExtensionContext): Exclusion[] {
	if (!memory.session) return [];
	return [{ session: memory.session, entries: contextEntries(ctx).map((entry) => entry.id) }];
}

/** The entries that the model is shown. oh-my-pi does not tell: there it is what its branch has kept since a compaction. */
function contextEntries({ sessionManager }: ExtensionContext) {
	if ("buildContextEntries" in sessionManager) return sessionManager.buildContextEntries();
	const branch = (sessionManager as ExtensionContext["sessionManager"]).getBranch();
	const compaction = branch.findLast((entry) => entry.type === "compaction");
	if (!compaction) return branch;
	const kept = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
	return branch.slice(kept < 0 ? branch.indexOf(compaction) : kept);
}

function within(count: number): number {
	return Math.min(Math.max(Math.trunc(count) || 0, 0), READ_MOST);
}

/** A tool's result. Whatever fails is told to the model in words: memory never fails a turn. */
async function answer<Details>(
	memory: Memory,
	work: () => Promise<{ text: string; details: Details }>,
): Promise<{ content: { type: "text"; text: string }[]; details: Details | Failure }> {
	try {
		const { text, details } = await work();
		return { content: [{ type: "text", text }], details };
	} catch (error) {
		const text = memory.explain(error);
		return { content: [{ type: "text", text }], details: { error: text } };
	}
}
