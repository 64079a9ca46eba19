// How many columns text takes, and cutting it to them. pi measures a line by cutting it into graphemes, unless it is all
// ASCII, which is most of what a frame costs: here only text that needs it is measured so, and what the screen adds of
// its own to lines of the list is ASCII.

import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Stands where something was cut off. */
export const CUT = "..";

/** Characters that never join with one another: from, to, columns of each. */
const SIMPLE: [number, number, number][] = [
	[0x20, 0x7e, 1],
	[0xa0, 0xac, 1],
	[0xae, 0x2ff, 1],
	[0x391, 0x3ff, 1],
	[0x400, 0x482, 1],
	[0x48a, 0x52f, 1],
	[0x2010, 0x2027, 1],
	[0x2030, 0x205e, 1],
	[0x20a0, 0x20bf, 1],
	[0x2190, 0x22ff, 1],
	[0x2500, 0x25fc, 1],
	[0x3000, 0x3029, 2],
	[0x3041, 0x3096, 2],
	[0x30a0, 0x30ff, 2],
	[0x3400, 0x4dbf, 2],
	[0x4e00, 0x9fff, 2],
	[0xac00, 0xd7a3, 2],
	[0xff01, 0xff60, 2],
];
const COLUMNS = new Uint8Array(0x10000);
for (const [from, to, columns] of SIMPLE) COLUMNS.fill(columns, from, to + 1);

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const SEQUENCE = /\u001b(?:\[[\d;:]*m|[\]_][^\u0007\u001b]*(?:\u0007|\u001b\\))/y;
const ESCAPE = 0x1b;
const segmenter = new Intl.Segmenter();

/** The escape sequence that begins here, if one does. */
export function sequenceAt(line: string, at: number): string | undefined {
	if (line.charCodeAt(at) !== ESCAPE) return undefined;
	SEQUENCE.lastIndex = at;
	return SEQUENCE.exec(line)?.[0];
}

/** The columns that a line takes, styled or not. */
export function columnsOf(line: string): number {
	let columns = 0;
	for (let at = 0; at < line.length; ) {
		const own = COLUMNS[line.charCodeAt(at)] ?? 0;
		const length = own > 0 ? 1 : sequenceAt(line, at)?.length;
		if (length === undefined) return visibleWidth(line);
		columns += own;
		at += length;
	}
	return columns;
}

/** A line of exactly this width. */
export function fit(line: string, width: number): string {
	const room = width - CUT.length;
	if (room < 1) return truncateToWidth(line, width, "", true);
	let columns = 0;
	let kept = 0;
	let keptColumns = 0;
	for (let at = 0; at < line.length; ) {
		const own = COLUMNS[line.charCodeAt(at)] ?? 0;
		const length = own > 0 ? 1 : sequenceAt(line, at)?.length;
		if (length === undefined) return truncateToWidth(line, width, CUT, true);
		columns += own;
		at += length;
		if (columns <= room) [kept, keptColumns] = [at, columns];
		if (columns > width) return `${line.slice(0, kept)}\u001b[0m${CUT}\u001b[0m${" ".repeat(room - keptColumns)}`;
	}
	return columns < width ? line + " ".repeat(width - columns) : line;
}

/** Plain text as what a terminal puts into cells: where each begins, and its columns. */
export interface Cells {
	/** Offsets in the text, one more than there are cells. */
	at: number[];
	columns: number[];
}

/** Cuts plain text into cells. */
export function cellsOf(text: string): Cells {
	const at: number[] = [];
	const columns: number[] = [];
	for (let index = 0; index < text.length; index++) {
		const own = COLUMNS[text.charCodeAt(index)] ?? 0;
		if (own === 0) return graphemesOf(text);
		at.push(index);
		columns.push(own);
	}
	at.push(text.length);
	return { at, columns };
}

function graphemesOf(text: string): Cells {
	const at: number[] = [];
	const columns: number[] = [];
	for (const { segment, index } of segmenter.segment(text)) {
		at.push(index);
		columns.push(visibleWidth(segment));
	}
	at.push(text.length);
	return { at, columns };
}
