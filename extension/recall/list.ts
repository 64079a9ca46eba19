// The list: hits under their sessions, or sessions alone, one of them selected.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { ago, day, minute, titleOf } from "../format.ts";
import { number, type Words } from "../words.ts";
import { columnsOf, fit } from "./columns.ts";
import type { Found, Item } from "./find.ts";
import { passage, plainLine } from "./paint.ts";

/** On lists narrower than this, a heading has its short form: what a session is called needs the room. */
const NARROW = 70;

/** Projects' names are cut to this width in a list of sessions, or less if so many of the first ones need less. */
const PROJECT = 16;
const LOOKED_AT = 50;

export class List {
	readonly #theme: Theme;
	readonly #words: Words;
	#found: Found | undefined;
	#selected = 0;
	/** The first item shown. */
	#first = 0;
	#projectColumns = 0;
	#painted = new WeakMap<Item, { state: string; lines: string[] }>();

	constructor(theme: Theme, words: Words) {
		this.#theme = theme;
		this.#words = words;
	}

	/** Turns to what was found; `stay` keeps the place in the list. */
	show(found: Found, stay: boolean): void {
		this.#found = found;
		this.#selected = stay ? Math.max(0, Math.min(this.#selected, found.items.length - 1)) : 0;
		this.#first = 0;
		const projects = found.items.slice(0, LOOKED_AT).map(({ session }) => columnsOf(plainLine(session.project)));
		this.#projectColumns = Math.min(PROJECT, Math.max(0, ...projects));
	}

	get item(): Item | undefined {
		return this.#found?.items[this.#selected];
	}

	/** How many items stand after the selected one. */
	get after(): number {
		return (this.#found?.items.length ?? 0) - 1 - this.#selected;
	}

	move(by: number): void {
		this.#selected = Math.max(0, Math.min(this.#selected + by, (this.#found?.items.length ?? 0) - 1));
	}

	/** Items were put before all others: the selected one stays so, unless it was the first. */
	grewBefore(count: number): void {
		if (this.#selected > 0) this.#selected += count;
	}

	invalidate(): void {
		this.#painted = new WeakMap();
	}

	/** Exactly `height` lines of exactly this width, the last column left free; a hit takes at most `rows` of them. */
	render(width: number, height: number, rows: number): string[] {
		const { items = [] } = this.#found ?? {};
		// Only as many items are painted as can be seen: from the first one shown, moved so that the selected one fits.
		this.#first = Math.min(this.#first, this.#selected);
		for (;;) {
			const lines: string[] = [];
			let end = 0;
			for (let index = this.#first; index < items.length && lines.length < height; index++) {
				lines.push(...this.#itemLines(items, index, width, rows));
				if (index === this.#selected) end = lines.length;
			}
			if ((end > 0 && end <= height) || this.#first >= this.#selected) {
				return [...lines, ...Array<string>(height).fill(" ".repeat(width))].slice(0, height);
			}
			this.#first += 1;
		}
	}

	/** An item's lines, painted once: a key that moves the selection changes two items. */
	#itemLines(items: Item[], index: number, width: number, rows: number): string[] {
		const item = items[index] as Item;
		const before = items[index - 1];
		const heads = index === this.#first || before?.session.id !== item.session.id || !before.hit;
		const selected = index === this.#selected;
		const state = `${width} ${rows} ${heads} ${selected}`;
		const known = this.#painted.get(item);
		if (known?.state === state) return known.lines;
		const lines = item.hit
			? this.#hitLines(item, item.hit, heads, selected, width, rows)
			: [this.#selectable(this.#heading(item, item.session.lastAt, width - 3), selected, width)];
		this.#painted.set(item, { state, lines });
		return lines;
	}

	#hitLines(item: Item, hit: NonNullable<Item["hit"]>, heads: boolean, selected: boolean, width: number, rows: number) {
		const theme = this.#theme;
		const role = this.#words.screen.roles[hit.role];
		const color = hit.role === "tool_error" ? "error" : hit.role === "user" ? "accent" : "muted";
		const indent = 3 + columnsOf(role);
		const alike = item.alike ? ` ${this.#words.screen.alike(item.alike)}` : "";
		const lines = passage(hit.snippet, hit.marks, width - 1 - indent - columnsOf(alike), rows, theme);
		return [
			...(heads ? [fit(this.#heading(item, hit.ts, width - 1), width)] : []),
			...lines.map((line, row) =>
				row === 0
					? this.#selectable(`${theme.fg(color, role)} ${line}${theme.fg("dim", alike)}`, selected, width)
					: this.#background(`${" ".repeat(indent)}${line}`, selected, width),
			),
		];
	}

	#selectable(line: string, selected: boolean, width: number): string {
		return this.#background(`${selected ? this.#theme.fg("accent", "→ ") : "  "}${line}`, selected, width);
	}

	#background(line: string, selected: boolean, width: number): string {
		const fitted = fit(line, width);
		if (!selected) return fitted;
		// Where a mark or a style ends the line's own background comes back.
		const back = this.#theme.getBgAnsi("selectedBg");
		const kept = ["\u001b[0m", "\u001b[49m"].reduce((text, end) => text.replaceAll(end, end + back), fitted);
		return this.#theme.bg("selectedBg", kept);
	}

	/** When, where and what a session is, as far as the width allows, and how much of it. */
	#heading({ session, hit }: Item, ts: number, width: number): string {
		const theme = this.#theme;
		const { screen } = this.#words;
		const title = plainLine(titleOf(session).slice(0, 4 * width)) || screen.untitled;
		const narrow = width < NARROW;
		const when = day(ts) === day(Date.now()) ? minute(ts).slice(11) : narrow ? day(ts) : minute(ts);
		// Sessions alone stand in columns.
		const parts = [
			hit ? when : when.padStart(narrow ? 10 : 16),
			hit ? this.#ago(ts, narrow) : padded(this.#ago(ts, narrow), this.#agoColumns(narrow)),
			hit ? plainLine(session.project) : padded(plainLine(session.project), this.#projectColumns),
		];
		const counted = this.#count({ session, hit });
		const count = narrow || !hit || session.matches === undefined ? counted : screen.matches(counted);
		const about = `${parts.filter(Boolean).join("  ")}  `;
		const room = width - columnsOf(about) - columnsOf(count) - 2;
		return `${theme.fg("dim", about)}${theme.bold(fit(title, Math.max(8, room)))}  ${theme.fg("dim", count)}`;
	}

	#ago(ts: number, narrow: boolean): string {
		const { now, ago: long, agoShort } = this.#words;
		return ago(ts, Date.now(), { now, ago: narrow ? agoShort : long });
	}

	/** The longest there is, so that it needs no look at all of them. */
	#agoColumns(narrow: boolean): number {
		return columnsOf(narrow ? this.#words.agoShort(30, "minute") : this.#words.ago(30, "minute"));
	}

	/** How many messages matched, or there are. */
	#count({ session, hit }: Item): string {
		if (!hit || session.matches === undefined) return number(session.messages);
		return `${number(session.matches)}${this.#countsAtLeast ? "+" : ""}`;
	}

	/** Whether sessions may hold more matches than were counted: only the best messages of a search are looked at. */
	get #countsAtLeast(): boolean {
		const { total = 0, sessions = [] } = this.#found?.result ?? {};
		return total > sessions.reduce((sum, { matches = 0 }) => sum + matches, 0);
	}
}

function padded(text: string, width: number): string {
	return width > 0 ? fit(text, width) : text;
}
