// The screen of /recall: a query line, what it finds, and the reading view of what is selected.
// The search runs when the screen is painted, so input that newer input has overtaken is never searched for.

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
	type Keybinding,
	matchesKey,
	type TUI,
	type TuiMouseEvent,
	visibleWidth,
	wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import type { ForgetReport, Message, Waiting } from "../../index.js";
import { ago, day, minute, tilde } from "../format.ts";
import type { Memory } from "../memory.ts";
import { number } from "../words.ts";
import { addCalled, type Found, find, findMore, type Item, isThin } from "./find.ts";
import { fit, passage, plain, plainLine } from "./paint.ts";
import { complete, completions } from "./query.ts";
import { Reading } from "./reading.ts";

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

/** A look at every session's name that takes longer waits until typing has paused. */
const AT_ONCE_MS = 6;
const PAUSE_MS = 150;

/** The screen's own keys, where pi has no keybinding for the act or none is bound. */
const KEYS = {
	fork: { binding: "app.session.fork", key: "ctrl+n" },
	copy: { binding: "app.message.copy", key: "ctrl+x" },
	forget: { binding: "app.session.delete", key: "ctrl+d" },
	read: { binding: "app.tools.expand", key: "ctrl+o" },
	quote: { binding: undefined, key: "ctrl+t" },
} as const;
type Act = keyof typeof KEYS;

/** What the screen stands in. */
export interface Place {
	tui: TUI;
	theme: Theme;
	keys: KeybindingsManager;
	memory: Memory;
	ctx: ExtensionCommandContext;
}

interface Menu {
	title: string[];
	choices: { label: string; run: () => void }[];
	at: number;
}

export class RecallScreen implements Component, Focusable {
	focused = false;
	private readonly tui: TUI;
	private readonly theme: Theme;
	private readonly keys: KeybindingsManager;
	private readonly memory: Memory;
	private readonly ctx: ExtensionCommandContext;
	private readonly done: (choice: Choice | undefined) => void;
	readonly #input: Input;
	readonly #reading: Reading;
	#found: Found | undefined;
	#searched: string | undefined;
	/** What the query line may become. */
	#offered: string[] = [];
	#selected = 0;
	#first = 0;
	#here = false;
	#whole = false;
	#menu: Menu | undefined;
	#notice: string | undefined;
	#waiting: Waiting | undefined;
	#later: ReturnType<typeof setTimeout> | undefined;
	#calledTook = 0;
	#painted = new WeakMap<Item, { state: string; lines: string[] }>();
	#closed = false;

	/** `done` is called once, with what was chosen. */
	constructor(at: Place, line: string, done: (choice: Choice | undefined) => void) {
		const { theme, memory } = at;
		this.tui = at.tui;
		this.theme = theme;
		this.keys = at.keys;
		this.memory = memory;
		this.ctx = at.ctx;
		this.done = done;
		const { screen } = memory.words;
		this.#input = new Input({
			prompt: "› ",
			placeholder: screen.placeholder,
			placeholderStyle: (text) => theme.fg("dim", text),
		});
		this.#input.setValue(line);
		this.#input.handleInput("\u0005");
		this.#reading = new Reading(memory, theme);
		this.#lookForFiles();
	}

	invalidate(): void {
		this.#input.invalidate();
		this.#painted = new WeakMap();
		this.#reading.invalidate();
	}

	// ---- input ----

	handleInput(data: string): void {
		this.#notice = undefined;
		if (this.#menu) this.#chooseFrom(this.#menu, data);
		else if (this.#act(data)) {
			// Done.
		} else this.#input.handleInput(data);
		this.tui.requestRender();
	}

	handleMouse(event: TuiMouseEvent) {
		if (event.type !== "wheel" || !event.wheelDelta) return undefined;
		this.#reading.scroll(event.wheelDelta);
		return { handled: true };
	}

	/** The keys that are not the query line's. */
	#act(data: string): boolean {
		const is = (binding: Keybinding) => this.keys.matches(data, binding);
		const page = Math.max(1, this.tui.terminal.rows - 8);
		if (is("tui.select.cancel")) {
			if (this.#whole && !is("app.clear")) this.#whole = false;
			else this.done(undefined);
		} else if (is("tui.select.confirm") || is("tui.input.submit")) this.#resume();
		else if (is("tui.select.up")) this.#whole ? this.#reading.scroll(-1) : this.#move(-1);
		else if (is("tui.select.down")) this.#whole ? this.#reading.scroll(1) : this.#move(1);
		else if (matchesKey(data, "shift+up")) this.#reading.scroll(-1);
		else if (matchesKey(data, "shift+down")) this.#reading.scroll(1);
		else if (matchesKey(data, "ctrl+pageUp")) this.#move(-page);
		else if (matchesKey(data, "ctrl+pageDown")) this.#move(page);
		else if (is("tui.select.pageUp")) this.#reading.scroll(-Math.max(1, Math.floor(page / 2)));
		else if (is("tui.select.pageDown")) this.#reading.scroll(Math.max(1, Math.floor(page / 2)));
		else if (is("tui.input.tab")) this.#completeOrSwitch();
		else if (this.#pressed(data, "read")) this.#whole = !this.#whole;
		else if (this.#pressed(data, "fork")) this.#fork();
		else if (this.#pressed(data, "quote")) this.#quote();
		else if (this.#pressed(data, "copy")) this.#copy();
		else if (this.#pressed(data, "forget")) this.#askToForget();
		else return false;
		return true;
	}

	#pressed(data: string, act: Act): boolean {
		return this.#keysOf(act).some((key) => matchesKey(data, key as Parameters<typeof matchesKey>[1]));
	}

	#keysOf(act: Act): string[] {
		const { binding, key } = KEYS[act];
		const bound = binding ? this.keys.getKeys(binding) : [];
		return bound.length > 0 ? bound : [key];
	}

	#move(by: number): void {
		const { items = [] } = this.#found ?? {};
		this.#selected = Math.max(0, Math.min(this.#selected + by, items.length - 1));
		if (this.#found?.more && this.#selected > items.length - 10) findMore(this.memory, this.#found, this.#project);
	}

	#completeOrSwitch(): void {
		const [first] = this.#offered;
		if (first !== undefined) {
			this.#input.setValue(complete(this.#input.getValue(), first));
			this.#input.handleInput("\u0005");
			return;
		}
		this.#here = !this.#here;
		this.#searched = undefined;
	}

	// ---- acts ----

	get #item(): Item | undefined {
		return this.#found?.items[this.#selected];
	}

	#resume(): void {
		const item = this.#item;
		if (!item) {
			if (this.#waiting) this.done({ do: "import" });
			return;
		}
		const { file } = item.session;
		if (file && existsSync(file)) this.done({ do: "resume", item, message: this.#reading.centre });
		else this.#offerWithoutFile(item);
	}

	#fork(): void {
		const item = this.#item;
		const message = this.#reading.centre;
		if (!item || !message) return;
		const { file } = item.session;
		if (!file || !existsSync(file)) this.#offerWithoutFile(item);
		else if (!message.entryId) this.#notice = this.memory.words.screen.noEntry;
		else this.done({ do: "fork", item, message });
	}

	/** pi's file is gone: nothing to go back to, but everything to go on with. */
	#offerWithoutFile(item: Item): void {
		const { screen } = this.memory.words;
		const message = this.#reading.centre;
		if (!message) return;
		this.#whole = true;
		this.#menu = {
			title: [screen.fileGone],
			choices: [
				{ label: screen.startNew, run: () => this.done({ do: "new", item, message }) },
				{ label: screen.keepReading, run: () => {} },
				{ label: screen.backToList, run: () => this.#showWhole(false) },
			],
			at: 0,
		};
	}

	#showWhole(whole: boolean): void {
		this.#whole = whole;
	}

	#quote(): void {
		const message = this.#reading.centre;
		if (this.#item && message) this.done({ do: "quote", item: this.#item, message });
	}

	#copy(): void {
		const message = this.#reading.centre;
		if (!message) return;
		const { screen } = this.memory.words;
		copyToClipboard(message.text).then(
			() => this.#say(screen.copied),
			(error) => this.#say(this.memory.explain(error)),
		);
	}

	#askToForget(): void {
		const item = this.#item;
		if (!item) return;
		const { screen } = this.memory.words;
		const session = { session: item.session.id };
		const message = item.hit && { message: item.hit.id };
		const dry = (what: object) => this.memory.store.forget({ ...what, dryRun: true });
		Promise.all([message && dry(message), dry(session)]).then(
			([one, all]) => {
				const still = [...new Set([...(one?.stillIn ?? []), ...all.stillIn])];
				this.#menu = {
					title: [
						screen.forgetTitle,
						...(still.length > 0
							? [
									screen.stillIn(
										still
											.slice(0, 2)
											.map((file) => tilde(file))
											.join(", "),
										still.length - 2,
									),
								]
							: []),
					],
					choices: [
						{ label: screen.forgetNothing, run: () => {} },
						...(message && one
							? [{ label: screen.forgetMessage(one.messages, one.sessions), run: () => this.#forget(message) }]
							: []),
						{ label: screen.forgetSession(all.messages, all.sessions), run: () => this.#forget(session) },
					],
					at: 0,
				};
				this.tui.requestRender();
			},
			(error) => this.#say(this.memory.explain(error)),
		);
	}

	#forget(what: { message: number } | { session: string }): void {
		this.memory.store.forget(what).then(
			(report: ForgetReport) => {
				this.#searched = undefined;
				this.#reading.show(undefined, "");
				this.#say(this.memory.words.screen.forgot(report.messages));
			},
			(error) => this.#say(this.memory.explain(error)),
		);
	}

	#say(text: string): void {
		this.#notice = text;
		this.tui.requestRender();
	}

	#chooseFrom(menu: Menu, data: string): void {
		const count = menu.choices.length;
		const pick = (at: number) => {
			this.#menu = undefined;
			menu.choices[at]?.run();
		};
		if (this.keys.matches(data, "tui.select.cancel")) this.#menu = undefined;
		else if (this.keys.matches(data, "tui.select.up")) menu.at = (menu.at + count - 1) % count;
		else if (this.keys.matches(data, "tui.select.down")) menu.at = (menu.at + 1) % count;
		else if (this.keys.matches(data, "tui.select.confirm")) pick(menu.at);
		else if (/^[1-9]$/.test(data) && Number(data) <= count) pick(Number(data) - 1);
	}

	// ---- what is found ----

	get #project(): string | undefined {
		return this.#here ? this.ctx.cwd : undefined;
	}

	/** Searches when the query line is another than the one searched for. */
	#refresh(): void {
		const line = this.#input.getValue();
		if (this.#found && line === this.#searched) return;
		const again = this.#searched === undefined;
		this.#searched = line;
		const found = find(this.memory, line, this.#project);
		this.#found = found;
		this.#offered = found.error ? [] : completions(line, this.memory.store);
		clearTimeout(this.#later);
		if (this.#calledTook < AT_ONCE_MS) this.#addCalled(found);
		else this.#later = setTimeout(() => this.#addCalled(found), PAUSE_MS);
		this.#fillUp(found);
		this.#selected = again ? Math.min(this.#selected, Math.max(0, found.items.length - 1)) : 0;
		this.#first = 0;
	}

	/** Brings on what a thin list lacks, a page between two keys. */
	#fillUp(found: Found): void {
		if (!isThin(found)) return;
		setTimeout(() => {
			if (found !== this.#found || this.#closed) return;
			findMore(this.memory, found, this.#project);
			this.tui.requestRender();
			this.#fillUp(found);
		});
	}

	/** Sessions by their names: at once where there are few sessions, else when typing pauses. */
	#addCalled(found: Found): void {
		const start = performance.now();
		try {
			const added = addCalled(this.memory, found, this.#project);
			if (this.#selected > 0) this.#selected += added;
			if (added > 0) this.tui.requestRender();
		} catch {
			// The hits are shown without them.
		}
		this.#calledTook = performance.now() - start;
	}

	dispose(): void {
		this.#closed = true;
		clearTimeout(this.#later);
	}

	/** An empty or nearly empty store: how many sessions wait to be imported. */
	#lookForFiles(): void {
		try {
			if (this.memory.store.sessions({ limit: FEW }).length === FEW) return;
		} catch {
			return;
		}
		this.memory.waiting(this.ctx).then((waiting) => {
			this.#waiting = waiting && waiting.files > 0 ? waiting : undefined;
			this.tui.requestRender();
		});
	}

	// ---- painting ----

	render(width: number): string[] {
		this.#refresh();
		this.#reading.show(this.#item, this.#found?.query.words ?? "");
		const height = this.tui.terminal.rows;
		const head = this.#headLines(width, height);
		const foot = this.#footLines(width);
		const room = Math.max(2, height - head.length - foot.length);
		const body = this.#bodyLines(width, room, height);
		return [...head, ...body, ...foot].slice(0, height);
	}

	#headLines(width: number, height: number): string[] {
		this.#input.focused = this.focused && !this.#menu;
		const input = this.#input.render(width);
		const rule = (text: string) => this.theme.fg("border", text);
		const { screen } = this.memory.words;
		const title = `── ${screen.title} `;
		const frame = height >= ROOMY ? [rule(title + "─".repeat(Math.max(0, width - visibleWidth(title))))] : [];
		return [...frame, ...input, fit(this.#statusLine(), width)];
	}

	/** How the answer was reached, or what there is to say. */
	#statusLine(): string {
		const { words } = this.memory;
		const { screen } = words;
		const { theme } = this;
		if (this.#notice) return theme.fg("warning", plainLine(this.#notice));
		const found = this.#found;
		if (!found) return "";
		if (found.error) return theme.fg("error", plainLine(found.error));
		const { query, result } = found;
		if (this.#offered.length > 0) {
			return `${theme.fg("dim", `${this.#keyName("tui.input.tab")} `)}${theme.fg("accent", plainLine(this.#offered.join("  ")))}`;
		}
		const where = query.project ?? (this.#here ? screen.thisProject : screen.allProjects);
		// Where nothing is found, the list's place says why.
		const parts = result
			? result.hits.length === 0
				? []
				: [
						// How many sessions is known once every hit is here.
						result.hits.length < result.total
							? words.messages(result.total, result.totalIsCapped)
							: words.hits(words.messages(result.total, result.totalIsCapped), result.sessions.length),
						...(result.tier === "some" ? [words.someWords] : []),
						...(result.missing.length > 0 ? [words.missing(result.missing.slice(0, 8).join(", "))] : []),
						...(result.complete ? [] : [words.cutShort]),
						`${result.tookMs.toFixed(1)} ms`,
					]
			: [words.latest];
		const filters = [
			query.session,
			query.role && screen.roles[query.role],
			query.since && `≥ ${query.since}`,
			query.until && `≤ ${query.until}`,
		];
		const said = [...query.problems.map((problem) => theme.fg("warning", plainLine(problem)))];
		const rest = [...parts, where, ...filters.filter((filter) => filter !== undefined)].map((part) =>
			plainLine(String(part)),
		);
		return [...said, theme.fg("muted", rest.join(" · "))].join(" ");
	}

	#bodyLines(width: number, room: number, height: number): string[] {
		const { theme } = this;
		if (this.#menu && !this.#whole) return this.#menuLines(this.#menu, width, room);
		if (this.#whole) {
			const menu = this.#menu
				? this.#menuLines(this.#menu, width, this.#menu.title.length + this.#menu.choices.length + 1)
				: [];
			const shown = menu.slice(0, room);
			return [...shown, ...this.#reading.render(width, room - shown.length, true)];
		}
		if (!this.#item) return this.#nothingLines(width, room);
		if (width >= BESIDE) {
			const left = Math.min(90, Math.floor(width * 0.45));
			const right = width - left - 3;
			const list = this.#listLines(left, room, height >= ROOMY ? 2 : 1);
			const reading = this.#reading.render(right, room, false);
			return list.map((line, row) => `${line} ${theme.fg("borderMuted", "│")} ${reading[row] ?? ""}`);
		}
		const rows = Math.max(2, Math.ceil((room - 1) / 2));
		return [
			...this.#listLines(width, rows, height >= 40 ? 2 : 1),
			theme.fg("borderMuted", "─".repeat(width)),
			...this.#reading.render(width, Math.max(0, room - rows - 1), false),
		];
	}

	#listLines(width: number, room: number, rows: number): string[] {
		const { items = [] } = this.#found ?? {};
		// Only as many items are painted as can be seen: from the first one shown, moved so that the selected one fits.
		if (this.#selected < this.#first) this.#first = this.#selected;
		for (;;) {
			const lines: string[] = [];
			let end = 0;
			for (let index = this.#first; index < items.length && lines.length < room; index++) {
				lines.push(...this.#itemLines(items, index, index === this.#first, width, rows));
				if (index === this.#selected) end = lines.length;
			}
			if ((end > 0 && end <= room) || this.#first >= this.#selected) {
				return [...lines, ...Array<string>(room).fill(fit("", width))].slice(0, room);
			}
			this.#first += 1;
		}
	}

	/** An item's lines, painted once: a key changes two of them, and measuring columns is what a frame costs. */
	#itemLines(items: Item[], index: number, first: boolean, width: number, rows: number): string[] {
		const item = items[index] as Item;
		const before = items[index - 1];
		const heads = first || before?.session.id !== item.session.id || !before?.hit;
		const selected = index === this.#selected;
		const state = `${width} ${rows} ${heads} ${selected}`;
		const known = this.#painted.get(item);
		if (known?.state === state) return known.lines;
		const lines = this.#paintItem(item, selected, heads, width, rows);
		this.#painted.set(item, { state, lines });
		return lines;
	}

	#paintItem({ session, hit }: Item, selected: boolean, heads: boolean, width: number, rows: number): string[] {
		const { theme } = this;
		const pointer = selected ? theme.fg("accent", "❯ ") : "  ";
		const paint = (line: string) => {
			const fitted = fit(line, width);
			if (!selected) return fitted;
			// Where a mark or a style ends the line's own background comes back.
			const back = theme.getBgAnsi("selectedBg");
			const kept = ["\u001b[0m", "\u001b[49m"].reduce((text, end) => text.replaceAll(end, end + back), fitted);
			return theme.bg("selectedBg", kept);
		};
		if (!hit) return [paint(`${pointer}${this.#heading(session, session.lastAt, width - 2)}`)];
		const { roles } = this.memory.words.screen;
		const heading = heads ? [fit(this.#heading(session, hit.ts, width, session.matches), width)] : [];
		const who = theme.fg(
			hit.role === "tool_error" ? "error" : hit.role === "user" ? "accent" : "muted",
			roles[hit.role],
		);
		const indent = 2 + visibleWidth(roles[hit.role]) + 1;
		const lines = passage(hit.snippet, hit.marks, width - indent, rows, theme);
		return [
			...heading,
			...lines.map((line, row) => paint(row === 0 ? `${pointer}${who} ${line}` : `${" ".repeat(indent)}${line}`)),
		];
	}

	/** Whether sessions may hold more matches than were counted: only the best messages of a search are looked at. */
	get #countsAtLeast(): boolean {
		const { total = 0, sessions = [] } = this.#found?.result ?? {};
		return total > sessions.reduce((sum, { matches = 0 }) => sum + matches, 0);
	}

	/** When, where and what a session is, as far as the width allows. */
	#heading(session: Item["session"], ts: number, width: number, matches?: number): string {
		const { theme } = this;
		const { words } = this.memory;
		const title = plainLine(session.name ?? session.opening) || words.screen.untitled;
		const when = [
			day(ts) === day(Date.now()) ? minute(ts).slice(11) : width < 70 ? day(ts) : minute(ts),
			ago(ts, Date.now(), words.locale),
		];
		const count = matches === undefined ? number(session.messages) : words.screen.matches(matches, this.#countsAtLeast);
		const about = `${[...when, plainLine(session.project)].filter(Boolean).join(" · ")} · `;
		const tail = ` · ${count}`;
		const room = Math.max(8, width - visibleWidth(about) - visibleWidth(tail));
		return `${theme.fg("dim", about)}${theme.bold(fit(title, Math.min(room, visibleWidth(title))))}${theme.fg("dim", tail)}`;
	}

	/** Nothing to list: why, and what to do about it. */
	#nothingLines(width: number, room: number): string[] {
		const { theme } = this;
		const { words } = this.memory;
		const { result, error } = this.#found ?? {};
		const lines: string[] = [];
		if (error) lines.push(theme.fg("error", plain(error)));
		else if (result) {
			const { messages, sessions, oldest } = result.searched;
			lines.push(words.noHit(plainLine(this.#input.getValue())));
			if (result.missing.length > 0) lines.push(words.missing(plainLine(result.missing.join(", "))));
			lines.push(theme.fg("muted", words.searched(messages, sessions, oldest === undefined ? "" : day(oldest))));
		} else lines.push(this.#here || this.#input.getValue() !== "" ? words.screen.noSession : words.nothingKept);
		if (this.#here && !error) lines.push(theme.fg("muted", words.screen.searchAll(this.#keyName("tui.input.tab"))));
		if (this.#waiting) {
			lines.push(
				"",
				theme.fg("accent", words.screen.offerImport(this.#waiting.files, this.#keyName("tui.select.confirm"))),
			);
		}
		const wrapped = lines.flatMap((line) => wrapTextWithAnsi(line, Math.max(4, width - 4)));
		return ["", ...wrapped, ...Array<string>(room).fill("")].slice(0, room).map((line) => fit(`  ${line}`, width));
	}

	#menuLines(menu: Menu, width: number, room: number): string[] {
		const { theme } = this;
		const title = menu.title.flatMap((line) =>
			wrapTextWithAnsi(theme.fg("warning", plainLine(line)), Math.max(4, width - 4)),
		);
		const choices = menu.choices.map(({ label }, index) => {
			const at = index === menu.at;
			return `${at ? theme.fg("accent", "❯") : " "} ${theme.fg("dim", String(index + 1))} ${at ? theme.bold(label) : label}`;
		});
		return [...title, ...choices, ...Array<string>(room).fill("")]
			.slice(0, room)
			.map((line) => fit(`  ${line}`, width));
	}

	#footLines(width: number): string[] {
		const { theme } = this;
		const { keys } = this.memory.words.screen;
		const hints: [string, string][] = this.#menu
			? [
					[this.#keyName("tui.select.confirm"), keys.choose],
					[this.#keyName("tui.select.cancel"), keys.back],
				]
			: [
					[this.#keyName("tui.select.confirm"), keys.resume],
					[
						this.#keyName("tui.input.tab"),
						this.#offered.length > 0 ? keys.complete : this.#here ? keys.all : keys.here,
					],
					[short(this.#keysOf("read")[0]), this.#whole ? keys.list : keys.read],
					[short(this.#keysOf("fork")[0]), keys.fork],
					[short(this.#keysOf("quote")[0]), keys.quote],
					[short(this.#keysOf("copy")[0]), keys.copy],
					[short(this.#keysOf("forget")[0]), keys.forget],
					[this.#keyName("tui.select.pageDown"), keys.scroll],
					[this.#keyName("tui.select.cancel"), this.#whole ? keys.back : keys.close],
				];
		const lines: string[] = [""];
		for (const [key, label] of hints) {
			const hint = `${theme.fg("accent", key)} ${theme.fg("muted", label)}`;
			const last = lines.at(-1) ?? "";
			if (last === "") lines[lines.length - 1] = hint;
			else if (visibleWidth(last) + 2 + visibleWidth(hint) <= width) lines[lines.length - 1] = `${last}  ${hint}`;
			else lines.push(hint);
		}
		return lines.map((line) => fit(line, width));
	}

	#keyName(binding: Keybinding): string {
		return short(this.keys.getKeys(binding)[0]);
	}
}

const SIGNS: Record<string, string> = {
	enter: "⏎",
	return: "⏎",
	escape: "esc",
	tab: "tab",
	pageDown: "pgdn",
	pageUp: "pgup",
};

/** A key as the footer names it: `^n` for ctrl+n. */
function short(key: string | undefined): string {
	if (!key) return "–";
	return SIGNS[key] ?? key.replace(/^ctrl\+/, "^");
}
