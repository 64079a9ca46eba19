// What the screen says of an answer: in the line below the query, or in the list's place where nothing was found.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { day, hasWord, titleOf } from "../format.ts";
import type { Words } from "../words.ts";
import { fit } from "./columns.ts";
import type { Found, Item } from "./find.ts";
import { plain, plainLine } from "./paint.ts";

/** What was asked and what came of it. */
export interface State {
	line: string;
	found: Found;
	/** Whether only this project is searched. */
	here: boolean;
	/** Session files that wait for an import. */
	waiting: number;
}

/** How the answer was reached, or what is wrong with the question. */
export function statusLine({ found, here }: State, words: Words, theme: Theme): string {
	// Where nothing is listed, the list's place says it in full.
	if (found.error) return found.items.length > 0 ? theme.fg("error", plainLine(found.error)) : "";
	const { screen } = words;
	const { query } = found;
	const parts = [
		...answered(found, words),
		query.project ?? (here ? screen.thisProject : screen.allProjects),
		query.session,
		query.role && screen.roles[query.role],
		query.since && `≥ ${query.since}`,
		query.until && `≤ ${query.until}`,
	];
	const said = parts.filter((part) => part !== undefined).map((part) => plainLine(part));
	const wrong = query.problems.map((problem) => theme.fg("warning", plainLine(problem)));
	return [...wrong, theme.fg("muted", said.join(" · "))].join(" ");
}

/** Where the reading view alone fills the screen: what it is that is read. */
export function sessionLine({ session }: Item, theme: Theme): string {
	return theme.fg("muted", [session.project, titleOf(session)].filter(Boolean).map(plainLine).join(" · "));
}

function answered({ result, begun }: Found, words: Words): string[] {
	if (!result) return [words.latest];
	// Where nothing is found, the list's place says why.
	if (result.hits.length === 0) return [];
	const messages = words.messages(result.total, result.totalIsCapped);
	return [
		// How many sessions is known once every hit is here.
		result.hits.length < result.total ? messages : words.hits(messages, result.sessions.length),
		...(begun ? [words.screen.beginning(plainLine(begun))] : result.tier === "some" ? [words.someWords] : []),
		...(result.missing.length > 0 ? [words.missing(result.missing.slice(0, 8).join(words.comma))] : []),
		...(result.complete ? [] : [words.cutShort]),
		`${result.tookMs.toFixed(1)} ms`,
	];
}

/** Nothing to list: why, and what to do about it. `keys` names the ones to press. */
export function nothingLines(
	{ line, found: { query, result, error }, here, waiting }: State,
	keys: { tab: string; confirm: string },
	words: Words,
	theme: Theme,
	width: number,
): string[] {
	const lines: string[] = [];
	if (error) lines.push(theme.fg("error", plain(error)));
	else if (result) {
		const { messages, sessions, oldest } = result.searched;
		lines.push(query.words === "" || hasWord(query.words) ? words.noHit(plainLine(line)) : words.noWord);
		if (result.missing.length > 0) lines.push(words.missing(plainLine(result.missing.join(words.comma))));
		lines.push(theme.fg("muted", words.searched(messages, sessions, oldest === undefined ? "" : day(oldest))));
	} else lines.push(here || line !== "" ? words.screen.noSession : words.nothingKept);
	if (here && !error) lines.push(theme.fg("muted", words.screen.searchAll(keys.tab)));
	if (waiting > 0) lines.push("", theme.fg("accent", words.screen.offerImport(waiting, keys.confirm)));
	const wrapped = lines.flatMap((text) => wrapTextWithAnsi(text, Math.max(4, width - 4)));
	return ["", ...wrapped].map((text) => fit(`  ${text}`, width));
}
