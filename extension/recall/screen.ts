// The screen of /recall: a query line, what it finds, and the reading view of what is selected.
// The search runs when the screen is painted, so input that newer input has overtaken is never searched for; the reading
// view follows the list a moment later, so that no key waits for it.

import { existsSync } from "node:fs";
import {
	copyToClipboard,
	type ExtensionCommandContext,
	type KeybindingsManager,
	type Theme,
} from "@earendil-works/pi-coding-agent";
import {
	type Component,
	type Focusable,
	Input,
	matchesKey,
	type TUI,
	type TuiMouseEvent,
} from "@earendil-works/pi-tui";
import type { ForgetReport, Message } from "../../index.js";
import type { Memory } from "../memory.ts";
import { columnsOf, fit } from "./columns.ts";
import { addCalled, type Found, find, findMore, type Item, isThin } from "./find.ts";
import { forgetMenu } from "./forget.ts";
import { type Hint, hintLines, Keys } from "./keys.ts";
import { List } from "./list.ts";
import { Menu } from "./menu.ts";
import { plainLine, wall } from "./paint.ts";
import { type Completion, complete, completions } from "./query.ts";
import { Reading } from "./reading.ts";
import { nothingLines, type State, sessionLine, statusLine } from "./status.ts";

/** What the person chose to do when the screen closes. */
export type Choice =
	| { do: "resume" | "fork"; item: Item; message?: Message }
	| { do: "quote" | "new"; item: Item; message: Message }
	| { do: "import" };

/** From this width on the reading view stands beside the list, below it on narrower screens. */
const BESIDE = 100;
/** From this height on a hit has two lines and the screen a frame. */
const ROOMY = 22;
/** Below this many sessions the screen looks for session files to import. */
const FEW = 5;
/** The reading view follows when no key has come for this long. */
const FOLLOW_MS = 30;
/** A look at every session's name that takes longer waits until typing has paused for so many times as long. */
const AT_ONCE_MS = 3;
const PATIENCE = 20;
/** The longest such look of this process so far; before the first, a guess. */
let longestLook = 20;
let looked = false;

/** What the screen stands in. */
export interface Place {
	tui: TUI;
	theme: Theme;
	keys: KeybindingsManager;
	memory: Memory;
	ctx: ExtensionCommandContext;
}

export class RecallScreen implements Component, Focusable {
	focused = false;
	readonly #tui: TUI;
	readonly #theme: Theme;
	readonly #memory: Memory;
	readonly #ctx: ExtensionCommandContext;
	readonly #done: (choice: Choice | undefined) => void;
	readonly #keys: Keys;
	readonly #input: Input;
	readonly #list: List;
	readonly #reading: Reading;
	#found: Found | undefined;
	#searched: string | undefined;
	/** What the query line may become. */
	#offered: Completion[] = [];
	#here = false;
	#whole = false;
	#menu: Menu | undefined;
	#notice: string | undefined;
	#waiting = 0;
	/** The reading view as it was painted last. */
	#pane: string[] = [];
	#follow: ReturnType<typeof setTimeout> | undefined;
	#pause: ReturnType<typeof setTimeout> | undefined;
	#closed = false;

	/** `done` is called once, with what was chosen. */
	constructor(at: Place, line: string, done: (choice: Choice | undefined) => void) {
		const { theme, memory } = at;
		this.#tui = at.tui;
		this.#theme = theme;
		this.#memory = memory;
		this.#ctx = at.ctx;
		this.#done = done;
		this.#keys = new Keys(at.keys);
		this.#input = new Input({
			prompt: "› ",
			placeholder: memory.words.screen.placeholder,
			placeholderStyle: (text) => theme.fg("dim", text),
		});
		this.#type(line);
		this.#list = new List(theme, memory.words);
		this.#reading = new Reading(memory, theme);
		this.#lookForFiles();
	}

	invalidate(): void {
		this.#input.invalidate();
		this.#list.invalidate();
		this.#reading.invalidate();
	}

	dispose(): void {
		this.#closed = true;
		clearTimeout(this.#follow);
		clearTimeout(this.#pause);
	}

	// ---- input ----

	handleInput(data: string): void {
		this.#notice = undefined;
		clearTimeout(this.#follow);
		this.#follow = undefined;
		try {
			if (this.#menu) this.#choose(this.#menu, data);
			else if (!this.#act(data)) this.#input.handleInput(data);
		} catch (error) {
			// What a key or a frame throws would end pi.
			this.#notice = this.#memory.explain(error);
		}
		this.#tui.requestRender();
	}

	handleMouse(event: TuiMouseEvent) {
		if (event.type !== "wheel" || !event.wheelDelta) return undefined;
		this.#reading.scroll(event.wheelDelta);
		return { handled: true };
	}

	/** The keys that are not the query line's. */
	#act(data: string): boolean {
		const keys = this.#keys;
		const page = Math.max(1, this.#tui.terminal.rows - 8);
		const half = Math.max(1, Math.floor(page / 2));
		if (keys.is(data, "tui.select.cancel")) {
			if (this.#whole && !keys.is(data, "app.clear")) this.#whole = false;
			else this.#done(undefined);
		} else if (keys.is(data, "tui.select.confirm") || keys.is(data, "tui.input.submit")) this.#resume();
		else if (keys.is(data, "tui.select.up")) this.#whole ? this.#reading.scroll(-1) : this.#move(-1);
		else if (keys.is(data, "tui.select.down")) this.#whole ? this.#reading.scroll(1) : this.#move(1);
		else if (matchesKey(data, "shift+up")) this.#reading.scroll(-1);
		else if (matchesKey(data, "shift+down")) this.#reading.scroll(1);
		else if (matchesKey(data, "ctrl+pageUp")) this.#move(-page);
		else if (matchesKey(data, "ctrl+pageDown")) this.#move(page);
		else if (keys.is(data, "tui.select.pageUp")) this.#reading.scroll(-half);
		else if (keys.is(data, "tui.select.pageDown")) this.#reading.scroll(half);
		else if (keys.is(data, "tui.input.tab")) this.#completeOrSwitch();
		else if (keys.asks(data, "read")) this.#whole = !this.#whole;
		else if (keys.asks(data, "fork")) this.#fork();
		else if (keys.asks(data, "quote")) this.#quote();
		else if (keys.asks(data, "copy")) this.#copy();
		else if (keys.asks(data, "forget")) this.#askToForget();
		else return false;
		return true;
	}

	/** Puts a line into the query line, with the cursor at its end. */
	#type(line: string): void {
		this.#input.setValue(line);
		this.#input.handleInput("\u0005");
	}

	#move(by: number): void {
		this.#refresh();
		this.#list.move(by);
		if (this.#found?.more && this.#list.after < 10) findMore(this.#memory, this.#found, this.#project);
	}

	#completeOrSwitch(): void {
		const [first] = this.#offered;
		if (first) {
			this.#type(complete(this.#input.getValue(), first));
			return;
		}
		this.#here = !this.#here;
		this.#searched = undefined;
	}

	#choose(menu: Menu, data: string): void {
		const chosen = menu.take(data, this.#keys);
		if (!chosen) return;
		this.#menu = undefined;
		if (chosen !== "close") chosen.run();
	}

	// ---- acts ----

	/** What is selected; a key may come before what was typed is painted. */
	get #item(): Item | undefined {
		this.#refresh();
		return this.#list.item;
	}

	/** The message an act is about: the hit, else the session's last one. */
	get #message(): Message | undefined {
		this.#reading.show(this.#item, this.#terms);
		return this.#reading.centre;
	}

	#resume(): void {
		const item = this.#item;
		if (!item) {
			if (this.#waiting > 0) this.#done({ do: "import" });
			return;
		}
		const { file } = item.session;
		if (file && existsSync(file)) this.#done({ do: "resume", item, message: this.#message });
		else this.#offerWithoutFile(item);
	}

	#fork(): void {
		const item = this.#item;
		const message = this.#message;
		if (!item || !message) return;
		const { file } = item.session;
		if (!file || !existsSync(file)) this.#offerWithoutFile(item);
		else if (!message.entryId) this.#notice = this.#memory.words.screen.noEntry;
		else this.#done({ do: "fork", item, message });
	}

	/** pi's file is gone: nothing to go back to, but everything to go on with. */
	#offerWithoutFile(item: Item): void {
		const { screen } = this.#memory.words;
		const message = this.#message;
		if (!message) return;
		this.#whole = true;
		this.#menu = new Menu(
			[screen.fileGone],
			[
				{ label: screen.startNew, run: () => this.#done({ do: "new", item, message }) },
				{ label: screen.keepReading, run: () => {} },
				{
					label: screen.backToList,
					run: () => {
						this.#whole = false;
					},
				},
			],
		);
	}

	#quote(): void {
		const item = this.#item;
		const message = this.#message;
		if (item && message) this.#done({ do: "quote", item, message });
	}

	#copy(): void {
		const message = this.#message;
		if (!message) return;
		copyToClipboard(message.text).then(
			() => this.#say(this.#memory.words.screen.copied),
			(error) => this.#say(this.#memory.explain(error)),
		);
	}

	#askToForget(): void {
		const item = this.#item;
		if (!item) return;
		forgetMenu(this.#memory, item, (what) => this.#forget(what)).then(
			(menu) => {
				this.#menu = menu;
				this.#tui.requestRender();
			},
			(error) => this.#say(this.#memory.explain(error)),
		);
	}

	#forget(what: { message: number } | { session: string }): void {
		this.#memory.store.forget(what).then(
			(report: ForgetReport) => {
				this.#searched = undefined;
				this.#reading.show(undefined, "");
				this.#say(this.#memory.words.screen.forgot(report.messages));
			},
			(error) => this.#say(this.#memory.explain(error)),
		);
	}

	#say(text: string): void {
		this.#notice = text;
		this.#tui.requestRender();
	}

	// ---- what is found ----

	get #project(): string | undefined {
		return this.#here ? this.#ctx.cwd : undefined;
	}

	/** What the reading view marks. */
	get #terms(): string {
		return this.#found?.words ?? "";
	}

	/** Searches when the query line is another than the one searched for. */
	#refresh(): void {
		const line = this.#input.getValue();
		if (this.#found && line === this.#searched) return;
		const again = this.#searched === undefined;
		this.#searched = line;
		const found = find(this.#memory, line, this.#project, true);
		this.#found = found;
		this.#offered = this.#offers(line);
		this.#list.show(found, again);
		clearTimeout(this.#pause);
		if (longestLook < AT_ONCE_MS) this.#addCalled(found);
		else this.#pause = setTimeout(() => this.#addCalled(found), PATIENCE * longestLook);
		this.#fillUp(found);
	}

	#offers(line: string): Completion[] {
		try {
			return completions(line, this.#memory);
		} catch {
			// The store does not open: the answer says why.
			return [];
		}
	}

	/** Brings on what a thin list lacks, a page between two keys. */
	#fillUp(found: Found): void {
		if (!isThin(found)) return;
		setTimeout(() => {
			if (found !== this.#found || this.#closed) return;
			findMore(this.#memory, found, this.#project);
			this.#tui.requestRender();
			this.#fillUp(found);
		});
	}

	/** Sessions by their names: at once where there are few sessions, else when typing pauses. */
	#addCalled(found: Found): void {
		const start = performance.now();
		try {
			const added = addCalled(this.#memory, found, this.#project);
			this.#list.grewBefore(added);
			if (added > 0) this.#tui.requestRender();
		} catch {
			// The hits are shown without them.
		}
		const took = performance.now() - start;
		longestLook = looked ? Math.max(longestLook, took) : took;
		looked = true;
	}

	/** An empty or nearly empty store: how many sessions wait to be imported. */
	#lookForFiles(): void {
		try {
			if (this.#memory.store.sessions({ limit: FEW }).length === FEW) return;
		} catch {
			return;
		}
		this.#memory.waiting(this.#ctx).then((waiting) => {
			this.#waiting = waiting?.files ?? 0;
			this.#tui.requestRender();
		});
	}

	// ---- painting ----

	render(width: number): string[] {
		try {
			return this.#frame(width);
		} catch (error) {
			return [fit(this.#theme.fg("error", plainLine(this.#memory.explain(error))), width)];
		}
	}

	#frame(width: number): string[] {
		this.#refresh();
		const height = this.#tui.terminal.rows;
		const head = this.#headLines(width, height);
		const foot = this.#footLines(width);
		const room = Math.max(2, height - head.length - foot.length);
		const body = this.#bodyLines(width, room, height);
		return [...head, ...body, ...foot].slice(0, height);
	}

	#headLines(width: number, height: number): string[] {
		this.#input.focused = this.focused && !this.#menu;
		const { words } = this.#memory;
		const title = `── ${words.screen.title} `;
		const rule = this.#theme.fg("border", title + "─".repeat(Math.max(0, width - columnsOf(title))));
		return [...(height >= ROOMY ? [rule] : []), ...this.#input.render(width), fit(this.#saidLine(), width)];
	}

	/** The line below the query line. */
	#saidLine(): string {
		const theme = this.#theme;
		const item = this.#list.item;
		if (this.#notice) return theme.fg("warning", plainLine(this.#notice));
		if (this.#offered.length === 0 && this.#whole && item) return sessionLine(item, theme);
		if (this.#offered.length === 0) return statusLine(this.#state, this.#memory.words, theme);
		const labels = this.#offered.map(({ label }) => plainLine(label)).join("  ");
		return `${theme.fg("dim", this.#keys.name("tui.input.tab"))} ${theme.fg("accent", labels)}`;
	}

	get #state(): State {
		const line = this.#input.getValue();
		return { line, found: this.#found as Found, here: this.#here, waiting: this.#waiting };
	}

	#bodyLines(width: number, room: number, height: number): string[] {
		const theme = this.#theme;
		const filled = (lines: string[]) => [...lines, ...Array<string>(room).fill(" ".repeat(width))].slice(0, room);
		const menu = this.#menu?.lines(width, theme) ?? [];
		if (this.#whole && this.#list.item) {
			const shown = menu.length > 0 ? [...menu, " ".repeat(width)].slice(0, room) : [];
			this.#reading.show(this.#item, this.#terms);
			return [...shown, ...this.#reading.render(width, room - shown.length, true)];
		}
		if (this.#menu) return filled(menu);
		if (!this.#list.item) {
			const keys = { tab: this.#keys.name("tui.input.tab"), confirm: this.#keys.name("tui.select.confirm") };
			return filled(nothingLines(this.#state, keys, this.#memory.words, theme, width));
		}
		if (width >= BESIDE) {
			const left = Math.min(90, Math.floor(width * 0.45));
			const list = this.#list.render(left, room, height >= ROOMY ? 2 : 1);
			const reading = this.#readingLines(width - left - 2, room);
			const bar = wall(theme);
			return list.map((line, row) => `${line}${bar} ${reading[row] ?? ""}`);
		}
		const rows = Math.max(2, Math.ceil((room - 1) / 2));
		return [
			...this.#list.render(width, rows, height >= 40 ? 2 : 1),
			theme.fg("borderMuted", "─".repeat(width)),
			...this.#readingLines(width, Math.max(0, room - rows - 1)),
		];
	}

	/** The reading view beside the list: as it was until it has followed. */
	#readingLines(width: number, height: number): string[] {
		if (this.#reading.isAbout(this.#list.item, this.#terms)) {
			this.#pane = this.#reading.render(width, height, false);
			return this.#pane;
		}
		// Frames that no key asked for, such as of an answer that streams behind the screen, put nothing off.
		this.#follow ??= setTimeout(() => {
			this.#follow = undefined;
			this.#reading.show(this.#item, this.#terms);
			this.#tui.requestRender();
		}, FOLLOW_MS);
		const fits = this.#pane.length === height && columnsOf(this.#pane[0] ?? "") === width;
		return fits ? this.#pane : Array<string>(height).fill(" ".repeat(width));
	}

	#footLines(width: number): string[] {
		return hintLines(this.#menu ? this.#menuHints : this.#hints, width, this.#theme);
	}

	get #menuHints(): Hint[] {
		const { keys: does } = this.#memory.words.screen;
		return [
			[this.#keys.name("tui.select.confirm"), does.choose],
			[this.#keys.name("tui.select.cancel"), does.back],
		];
	}

	/** The keys that do something now: without a selection there is nothing to read or to act on. */
	get #hints(): Hint[] {
		const keys = this.#keys;
		const { keys: does } = this.#memory.words.screen;
		const tab = this.#offered.length > 0 ? does.complete : this.#here ? does.all : does.here;
		const switches: Hint = [keys.name("tui.input.tab"), tab];
		const close: Hint = [keys.name("tui.select.cancel"), this.#whole ? does.back : does.close];
		if (!this.#list.item) {
			const start: Hint[] = this.#waiting > 0 ? [[keys.name("tui.select.confirm"), does.import]] : [];
			return [...start, switches, close];
		}
		return [
			[keys.name("tui.select.confirm"), does.resume],
			switches,
			[keys.name("read"), this.#whole ? does.list : does.read],
			[keys.name("fork"), does.fork],
			[keys.name("quote"), does.quote],
			[keys.name("copy"), does.copy],
			[keys.name("forget"), does.forget],
			[keys.name("tui.select.pageDown"), does.scroll],
			close,
		];
	}
}
