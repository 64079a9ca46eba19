// Stored text as lines of a terminal: harmless, cut to the width, with the query's terms marked.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { sliceByColumn, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { harmless } from "../format.ts";

type Marks = [number, number][];

/** Stand for the beginning and end of a mark inside Markdown: invisible, and without width. */
const OPEN = "\u2063";
const CLOSE = "\u2064";
/** What turns the direction of the text after it, and what a mark is made of. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2063\u2064]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const SEQUENCE = /\u001b(?:\[[\d;:]*m|[\]_][^\u0007\u001b]*(?:\u0007|\u001b\\))/y;

/** Text without anything that a terminal would act upon. */
export function plain(text: string): string {
	return harmless(text.replaceAll(TURNING, "").replaceAll(/[\u2028\u2029]/g, "\n"));
}

/** The same on one line. */
export function plainLine(text: string): string {
	return plain(text).replaceAll(/\s+/g, " ").trim();
}

/** A term that was found. A theme without colours yet, since the terminal has not told its own, reverses it. */
export function found(theme: Theme, text: string): string {
	const colourless = ["", "\u001b[49m"].includes(theme.getBgAnsi("searchMatchBg"));
	return colourless ? theme.inverse(text) : theme.style(text, { fg: "searchMatchText", bg: "searchMatchBg" });
}

/** The passage around a snippet's first mark, on at most `rows` lines. */
export function passage(text: string, all: Marks, width: number, rows: number, theme: Theme): string[] {
	const room = Math.max(width, 4) * rows;
	const { snippet, marks } = near(text, all, room);
	const styled = pieces(snippet, marks).map(([text, marked]) => (marked ? found(theme, text) : text));
	const line = styled.join("");
	const whole = visibleWidth(line);
	if (whole <= room) return wrapTextWithAnsi(line, width).slice(0, rows);
	// The first mark stands a third into the room; wrapping may leave a column at each line's end unused.
	const before = visibleWidth(pieces(snippet, marks)[0]?.[1] ? "" : (styled[0] ?? ""));
	const from = Math.max(0, Math.min(before - Math.floor(room / 3), whole - room + rows * 2));
	const shown = `${from > 0 ? "…" : ""}${sliceByColumn(line, from, room - rows * 2, true)}…`;
	return wrapTextWithAnsi(shown, width).slice(0, rows);
}

/**
 * What may be seen of a snippet in this many columns, with as much again on either side. Measuring columns is slow, and
 * a snippet is several times what a line shows.
 */
function near(text: string, marks: Marks, room: number): { snippet: string; marks: Marks } {
	const at = marks[0]?.[0] ?? 0;
	const from = Math.max(0, at - room);
	const to = at + 2 * room;
	if (from === 0 && to >= text.length) return { snippet: text, marks };
	const within = marks.filter(([, end]) => end <= to);
	return {
		snippet: text.slice(from, to).toWellFormed(),
		marks: within.map(([start, end]): [number, number] => [start - from, end - from]),
	};
}

/** Text with each mark between invisible signs, to be painted after Markdown has made lines of it. */
export function signed(text: string, marks: Marks = []): string {
	return pieces(text, marks)
		.map(([piece, marked]) => (marked ? `${OPEN}${piece}${CLOSE}` : piece))
		.join("");
}

/** Paints the marks of lines that Markdown made of signed text; says on which line the first one stands. */
export function paintMarks(lines: readonly string[], theme: Theme): { lines: string[]; first?: number } {
	const begin = found(theme, "\u0000").split("\u0000")[0] ?? "";
	let marked = false;
	let first: number | undefined;
	const painted = lines.map((line, row) => {
		if (!marked && !line.includes(OPEN)) return line.replaceAll(CLOSE, "");
		first ??= row;
		// What was in force where a mark ends is put in force again there.
		let [out, styles, at] = [marked ? begin : "", "", 0];
		while (at < line.length) {
			SEQUENCE.lastIndex = at;
			const sequence = SEQUENCE.exec(line)?.[0];
			if (sequence) {
				const style = sequence.endsWith("m") && sequence.startsWith("\u001b[");
				if (style) styles = sequence === "\u001b[0m" || sequence === "\u001b[m" ? "" : styles + sequence;
				out += style && marked ? sequence + begin : sequence.replaceAll(/[\u2063\u2064]/g, "");
				at += sequence.length;
				continue;
			}
			const char = line[at] ?? "";
			if (char === OPEN) {
				marked = true;
				out += begin;
			} else if (char === CLOSE) {
				marked = false;
				out += `\u001b[0m${styles}`;
			} else out += char;
			at += 1;
		}
		return marked ? `${out}\u001b[0m` : out;
	});
	return { lines: painted, first };
}

/** A line of exactly this width. */
export function fit(line: string, width: number): string {
	return truncateToWidth(line, width, "…", true);
}

/** Text cut at its marks, each piece made harmless. */
function pieces(text: string, marks: Marks): [string, boolean][] {
	const cut: [string, boolean][] = [];
	let done = 0;
	for (const [start, end] of marks) {
		if (start > done) cut.push([plain(text.slice(done, start)), false]);
		cut.push([plain(text.slice(start, end)), true]);
		done = end;
	}
	if (done < text.length) cut.push([plain(text.slice(done)), false]);
	return cut;
}
