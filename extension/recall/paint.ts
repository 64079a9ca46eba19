// Stored text as lines of a terminal: harmless, cut to the width, with the query's terms marked.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { harmless } from "../format.ts";
import { type Cells, CUT, cellsOf, sequenceAt } from "./columns.ts";

type Marks = [number, number][];

/** Stand for the beginning and end of a mark inside Markdown: invisible, and without width. */
const OPEN = "\u2063";
const CLOSE = "\u2064";
/** What turns the direction of the text after it, and what a mark is made of. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2063\u2064]/g;

/** A passage begins at a word's beginning if one comes within so many cells. */
const WORD = 12;

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
	if (!colours(theme, "searchMatchBg")) return theme.inverse(text);
	return theme.style(text, { fg: "searchMatchText", bg: "searchMatchBg" });
}

/** What stands between the list and the reading view: the selected line runs into it. */
export function wall(theme: Theme): string {
	return colours(theme, "selectedBg") ? theme.bg("selectedBg", " ") : theme.fg("borderMuted", "|");
}

function colours(theme: Theme, background: Parameters<Theme["getBgAnsi"]>[0]): boolean {
	return !["", "\u001b[49m"].includes(theme.getBgAnsi(background));
}

/** The passage around a snippet's first mark, on one to `rows` lines of at most this width. */
export function passage(text: string, all: Marks, width: number, rows: number, theme: Theme): string[] {
	const columns = Math.max(width, 4);
	const room = columns * rows;
	const near = around(text, all, room);
	let clean = "";
	const marks: Marks = [];
	for (const [piece, marked] of pieces(near.snippet, near.marks)) {
		const begin = clean.length;
		clean += piece.replaceAll(/\s/g, " ");
		if (marked) marks.push([begin, clean.length]);
	}
	const cells = cellsOf(clean);
	const lines = rowsOf(clean, cells, firstCell(clean, cells, marks, room, rows), columns, rows);
	if (lines.length === 0) return [""];
	return lines.map(({ from, to, before, after }) => before + styled(clean, from, to, marks, theme) + after);
}

/** The cell to begin with: the first mark stands a third into the room, and no room is left empty at the end. */
function firstCell(clean: string, { at, columns }: Cells, marks: Marks, room: number, rows: number): number {
	// Wrapping may leave some columns at each line's end unused.
	let left = columns.reduce((sum, own) => sum + own, 0) - room + rows * 2;
	let before = -Math.floor(room / 3);
	for (let cell = 0; cell < columns.length && (at[cell] ?? 0) < (marks[0]?.[0] ?? 0); cell++) {
		before += columns[cell] ?? 0;
	}
	let cell = 0;
	for (; before > 0 && left > rows * 2; cell++) {
		before -= columns[cell] ?? 1;
		left -= columns[cell] ?? 1;
	}
	// A word begun before is no beginning, where the next is near.
	for (let next = cell; cell > 0 && next < cell + WORD; next++) {
		if (clean[at[next] ?? 0] === " " && (at[next] ?? 0) < (marks[0]?.[0] ?? 0)) return next + 1;
	}
	return cell;
}

interface Row {
	from: number;
	to: number;
	before: string;
	after: string;
}

/** Lines from a cell on, broken where a word or a wide character ends. */
function rowsOf(text: string, { at, columns }: Cells, first: number, width: number, rows: number): Row[] {
	const isSpace = (cell: number) => text[at[cell] ?? 0] === " ";
	const lines: Row[] = [];
	let cell = first;
	while (lines.length < rows) {
		while (cell > 0 && cell < columns.length && isSpace(cell)) cell += 1;
		if (cell >= columns.length) break;
		const last = lines.length === rows - 1;
		const before = lines.length === 0 && first > 0 ? CUT : "";
		let used = before.length;
		let end = cell;
		while (end < columns.length && used + (columns[end] ?? 0) <= width) used += columns[end++] ?? 0;
		const cut = last && end < columns.length;
		while (cut && used > width - CUT.length && end > cell + 1) used -= columns[--end] ?? 0;
		if (!last && end < columns.length) end = breakBefore(end, cell, isSpace, (one) => columns[one] === 2);
		lines.push({ from: at[cell] ?? 0, to: at[end] ?? text.length, before, after: cut ? CUT : "" });
		cell = Math.max(end, cell + 1);
	}
	return lines;
}

/** Where a line that is full is best broken. */
function breakBefore(
	end: number,
	from: number,
	isSpace: (cell: number) => boolean,
	isWide: (cell: number) => boolean,
): number {
	for (let cell = end; cell > from; cell--) {
		if (isSpace(cell) || isSpace(cell - 1) || isWide(cell) || isWide(cell - 1)) return cell;
	}
	return end;
}

function styled(text: string, from: number, to: number, marks: Marks, theme: Theme): string {
	let out = "";
	let done = from;
	for (const [begin, end] of marks) {
		if (end <= from || begin >= to) continue;
		const start = Math.max(begin, from);
		const stop = Math.min(end, to);
		out += text.slice(done, start) + found(theme, text.slice(start, stop));
		done = stop;
	}
	return out + text.slice(done, to);
}

/** What may be seen of a snippet in this many columns, with as much again on either side: it is several times longer. */
function around(text: string, marks: Marks, room: number): { snippet: string; marks: Marks } {
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
			const sequence = sequenceAt(line, at);
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
