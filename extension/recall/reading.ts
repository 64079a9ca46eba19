// The reading view: a message among its neighbours, as pi renders them, with the query's terms marked.

import { getMarkdownTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { type Component, type DefaultTextStyle, Markdown, Text, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { Message, Role, Window } from "../../index.js";
import { cut, minute } from "../format.ts";
import type { Memory } from "../memory.ts";
import { number } from "../words.ts";
import { fit } from "./columns.ts";
import type { Item } from "./find.ts";
import { paintMarks, plain, signed } from "./paint.ts";

/** Neighbours read at first, and read on when scrolling comes to an edge. */
const BEFORE = 2;
const AFTER = 4;
const ON = 8;
/** A message is shown in at least so many characters, beside the list in no more than fit; on the whole screen, all of it. */
const GLANCE = 1_000;

interface Block {
	lines: string[];
	/** The line of the first mark. */
	mark?: number;
}

export class Reading {
	readonly #memory: Memory;
	readonly #theme: Theme;
	#item: Item | undefined;
	#highlight = "";
	#window: Window | undefined;
	#error: string | undefined;
	#blocks = new Map<string, Block>();
	#width = 0;
	/** How much of a message is shown, in characters. */
	#limit = 0;
	/** The line at the top of the view, counted from the first line of the message the view is about. */
	#top: number | undefined;

	constructor(memory: Memory, theme: Theme) {
		this.#memory = memory;
		this.#theme = theme;
	}

	/** Whether the view is turned to this item, with these terms marked. */
	isAbout(item: Item | undefined, highlight: string): boolean {
		return this.#isSame(item) && highlight === this.#highlight;
	}

	/** Turns to another item; the same one stays as it is scrolled. */
	show(item: Item | undefined, highlight: string): void {
		if (this.isAbout(item, highlight)) return;
		if (!this.#isSame(item)) this.#top = undefined;
		if (highlight !== this.#highlight || item?.session.id !== this.#item?.session.id) this.#blocks.clear();
		this.#item = item;
		this.#highlight = highlight;
		this.#window = undefined;
		this.#error = undefined;
	}

	#isSame(item: Item | undefined): boolean {
		return item?.session.id === this.#item?.session.id && item?.hit?.id === this.#item?.hit?.id;
	}

	/** The message the view is about: the hit, else the session's last one. */
	get centre(): Message | undefined {
		const messages = this.#read()?.messages ?? [];
		return this.#item?.hit ? messages.find(({ id }) => id === this.#item?.hit?.id) : messages.at(-1);
	}

	scroll(lines: number): void {
		this.#top = (this.#top ?? 0) + lines;
	}

	invalidate(): void {
		this.#blocks.clear();
	}

	/** Exactly `height` lines of exactly this width. */
	render(width: number, height: number, whole: boolean): string[] {
		const limit = whole ? Number.POSITIVE_INFINITY : Math.max(GLANCE, width * height);
		if (width !== this.#width || limit !== this.#limit) this.invalidate();
		this.#width = width;
		this.#limit = limit;
		const blank = fit("", width);
		const centre = this.centre;
		if (!centre) {
			const error = this.#theme.fg("error", plain(this.#error ?? ""));
			const lines = wrapTextWithAnsi(error, width).map((line) => fit(line, width));
			return [...lines, ...Array<string>(height).fill(blank)].slice(0, height);
		}
		const own = this.#block(centre, width);
		this.#top ??= this.#firstTop(own, height);
		const above: string[] = [];
		const below: string[] = [...own.lines];
		for (let edge = this.#before(centre); edge && above.length < -this.#top; edge = this.#before(edge)) {
			above.unshift(...this.#block(edge, width).lines);
		}
		for (let edge = this.#after(centre); edge && below.length < this.#top + height; edge = this.#after(edge)) {
			below.push(...this.#block(edge, width).lines);
		}
		this.#top = Math.max(-above.length, Math.min(this.#top, below.length - height));
		const from = this.#top + above.length;
		const lines = [...above, ...below].slice(Math.max(0, from), Math.max(0, from) + height);
		return [...lines, ...Array<string>(height).fill(blank)].slice(0, height);
	}

	/** At first the message's heading is the top line, or its mark stands a third down; a session is shown at its end. */
	#firstTop({ lines, mark = 0 }: Block, height: number): number {
		if (!this.#item?.hit) return lines.length - height;
		return mark < height - 1 ? 0 : mark - Math.floor(height / 3);
	}

	#read(): Window | undefined {
		if (!this.#item || this.#window || this.#error) return this.#window;
		const { session, hit } = this.#item;
		try {
			this.#window = this.#memory.store.read(session.id, {
				around: hit?.id,
				before: hit ? BEFORE : AFTER,
				after: AFTER,
				highlight: this.#highlight || undefined,
			});
		} catch (error) {
			this.#error = this.#memory.explain(error);
		}
		return this.#window;
	}

	/** The message before, read when it was not. */
	#before(message: Message): Message | undefined {
		const window = this.#window;
		if (!window) return undefined;
		const at = window.messages.indexOf(message);
		if (at === 0 && window.more.before > 0) {
			const on = this.#on(message, ON, 0);
			window.messages.unshift(...on.messages.slice(0, -1));
			window.more.before = on.messages.length > 1 ? on.more.before : 0;
		}
		return window.messages[window.messages.indexOf(message) - 1];
	}

	/** The message after, read when it was not. */
	#after(message: Message): Message | undefined {
		const window = this.#window;
		if (!window) return undefined;
		if (message === window.messages.at(-1) && window.more.after > 0) {
			const on = this.#on(message, 0, ON);
			window.messages.push(...on.messages.slice(1));
			window.more.after = on.messages.length > 1 ? on.more.after : 0;
		}
		return window.messages[window.messages.indexOf(message) + 1];
	}

	/** Reads on from a message; nothing when it was forgotten meanwhile. */
	#on(message: Message, before: number, after: number): Pick<Window, "messages" | "more"> {
		const session = this.#item?.session.id ?? "";
		const highlight = this.#highlight || undefined;
		try {
			return this.#memory.store.read(session, { around: message.id, before, after, highlight });
		} catch {
			return { messages: [], more: { before: 0, after: 0 } };
		}
	}

	#block(message: Message, width: number): Block {
		const key = `${message.id} ${message.id === this.#item?.hit?.id}`;
		const known = this.#blocks.get(key);
		if (known) return known;
		const made = this.#make(message, width);
		this.#blocks.set(key, made);
		return made;
	}

	#make(message: Message, width: number): Block {
		const theme = this.#theme;
		const { screen } = this.#memory.words;
		const { text, marks, left } = glance(message, this.#limit);
		const about = message.id === this.#item?.hit?.id;
		const heading = `${about ? "▶" : "·"} ${screen.roles[message.role]} · ${minute(message.ts)}`;
		const body = parts(message.role, signed(text, marks)).flatMap((part) =>
			component(message.role, part, theme).render(width),
		);
		const painted = paintMarks(body, theme);
		const notes = [
			...(left > 0 ? [screen.moreCharacters(number(left))] : []),
			...(message.truncated && left === 0 ? [screen.truncated] : []),
		];
		const lines = [
			fit(theme.fg(about ? "accent" : "dim", heading), width),
			...painted.lines.map((line) => fit(line, width)),
			...notes.map((note) => fit(theme.fg("dim", ` ${note}`), width)),
			fit("", width),
		];
		return { lines, mark: painted.first === undefined ? undefined : painted.first + 1 };
	}
}

/** A piece of a message: Markdown, or what is shown as it is. */
interface Part {
	text: string;
	verbatim: boolean;
}

/** A tool's call as it is kept: `→ read({"path":"src/a.ts"})`. */
const CALL = /^→ (?=[^\s(]+\()/;
const FENCE = /^\s*(```|~~~)/;

/** A tool's error and a person's command are no Markdown, nor are the calls that stand among an assistant's text. */
function parts(role: Role, text: string): Part[] {
	if (role === "tool_error" || (role === "user" && text.startsWith("! "))) return [{ text, verbatim: true }];
	if (role !== "assistant") return [{ text, verbatim: false }];
	const found: Part[] = [];
	let fenced = false;
	for (const line of text.split("\n")) {
		if (FENCE.test(line)) fenced = !fenced;
		const verbatim = !fenced && CALL.test(line);
		// The arrow stays on its line, however long the path that follows it.
		const shown = verbatim ? line.replace(CALL, "→\u00a0") : line;
		const last = found.at(-1);
		if (last?.verbatim === verbatim) last.text += `\n${shown}`;
		else found.push({ text: shown, verbatim });
	}
	return found;
}

/** A piece as pi shows that role. */
function component(role: Role, { text, verbatim }: Part, theme: Theme): Component {
	const { color, bgColor } = styleOf(role, theme);
	if (verbatim) return new Text(color ? color(text) : text, 1, 0, bgColor);
	return new Markdown(text, 1, 0, getMarkdownTheme(), { color, bgColor });
}

function styleOf(role: Role, theme: Theme): DefaultTextStyle {
	switch (role) {
		case "user":
			return {
				color: (line) => theme.fg("userMessageText", line),
				bgColor: (line) => theme.bg("userMessageBg", line),
			};
		case "tool_error":
			return { color: (line) => theme.fg("error", line) };
		case "summary":
			return {
				color: (line) => theme.fg("customMessageText", line),
				bgColor: (line) => theme.bg("customMessageBg", line),
			};
		case "assistant":
			return {};
	}
}

/** A long message around its first mark. */
function glance(message: Message, limit: number): { text: string; marks: [number, number][]; left: number } {
	const { text, marks = [] } = message;
	if (text.length <= limit) return { text, marks, left: 0 };
	const from = Math.max(0, (marks[0]?.[0] ?? 0) - limit / 4);
	// From a line's beginning, so that Markdown reads it as it was.
	const start = from === 0 ? 0 : Math.max(text.indexOf("\n", from - 200) + 1, from - 200);
	const part = cut(text.slice(start).toWellFormed(), limit);
	const inside = marks
		.filter(([begin, end]) => begin >= start && end < start + part.length)
		.map(([begin, end]): [number, number] => [begin - start, end - start]);
	return {
		text: `${start > 0 ? "…\n" : ""}${part}`,
		marks: shifted(inside, start > 0 ? 2 : 0),
		left: text.length - part.length,
	};
}

function shifted(marks: [number, number][], by: number): [number, number][] {
	return marks.map(([begin, end]) => [begin + by, end + by]);
}
