// Opens /recall where there is someone to choose: the screen in a terminal, pi's dialogs over rpc.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { minute, titleOf } from "../format.ts";
import { type Memory, say } from "../memory.ts";
import { carryOut } from "./act.ts";
import { show } from "./answer.ts";
import { addCalled, type Found, find, findMore, type Item, isThin } from "./find.ts";
import { forget } from "./forget.ts";
import { plain, plainLine } from "./paint.ts";
import { type Choice, RecallScreen } from "./screen.ts";

/** What one dialog lists. */
const CHOICES = 20;
const SHOWN = 2_000;

/** The screen over the whole terminal, and what was chosen in it. */
export async function openScreen(memory: Memory, line: string, ctx: ExtensionCommandContext): Promise<void> {
	memory.screenIsOpen = true;
	const choice = await ctx.ui
		.custom<Choice | undefined>(
			(tui, theme, keys, done) => new RecallScreen({ tui, theme, keys, memory, ctx }, line, done),
			{ overlay: true, overlayOptions: { width: "100%", maxHeight: "100%", row: 0, col: 0 } },
		)
		.finally(() => {
			memory.screenIsOpen = false;
		});
	if (choice) await carryOut(choice, memory, ctx);
}

/** The same as dialogs: choose a hit, read it, choose what to do with it. */
export async function openDialogs(memory: Memory, line: string, ctx: ExtensionCommandContext): Promise<void> {
	const { screen } = memory.words;
	for (;;) {
		const found = find(memory, line);
		while (isThin(found)) findMore(memory, found);
		if (!found.error) addCalled(memory, found);
		if (found.error) return say(ctx, found.error, "error");
		const rows = found.items.slice(0, CHOICES).map((item, index) => rowOf(item, index, memory));
		const chosen = await ctx.ui.select(headingOf(found, line, memory), [...rows, screen.searchAgain]);
		if (chosen === undefined) return;
		if (chosen === screen.searchAgain) {
			const words = await ctx.ui.input(screen.title, screen.placeholder);
			if (words === undefined) return;
			line = words;
			continue;
		}
		const item = found.items[rows.indexOf(chosen)];
		if (!item) return;
		const done = await chooseAct(item, found, memory, ctx);
		if (done) return;
	}
}

async function chooseAct(item: Item, found: Found, memory: Memory, ctx: ExtensionCommandContext): Promise<boolean> {
	const { screen } = memory.words;
	const window = memory.store.read(item.session.id, {
		around: item.hit?.id,
		before: 1,
		after: 2,
		highlight: found.query.words || undefined,
	});
	const message = item.hit ? window.messages.find(({ id }) => id === item.hit?.id) : window.messages.at(-1);
	if (!message) return true;
	const text = window.messages.map(({ role, text }) => `${screen.roles[role]}: ${plain(text)}`).join("\n\n");
	const forgetIt = screen.forgetMessage(1, 1);
	const acts = [screen.acts.resume, screen.acts.fork, screen.acts.quote, screen.startNew, forgetIt, screen.backToList];
	const act = await ctx.ui.select(text.slice(0, SHOWN).toWellFormed(), acts);
	if (act === undefined) return true;
	if (act === forgetIt) {
		show(await forget(memory, `message:${message.id}`, ctx), ctx);
		return false;
	}
	const chosen = (
		[
			{ do: "resume", item, message },
			{ do: "fork", item, message },
			{ do: "quote", item, message },
			{ do: "new", item, message },
		] as Choice[]
	)[acts.indexOf(act)];
	if (!chosen) return false;
	await carryOut(chosen, memory, ctx);
	return true;
}

function headingOf({ result, items }: Found, line: string, { words }: Memory): string {
	if (!result && items.length > 0) return words.latest;
	if (!result) return line === "" ? words.nothingKept : words.screen.noSession;
	if (items.length === 0) return words.noHit(plainLine(line));
	return words.hits(words.messages(result.total, result.totalIsCapped), result.sessions.length);
}

/** One line, unlike every other by its number. */
function rowOf({ session, hit }: Item, index: number, { words }: Memory): string {
	const title = plainLine(titleOf(session)) || words.screen.untitled;
	const said = hit ? ` · ${words.screen.roles[hit.role]}: ${plainLine(hit.snippet)}` : "";
	return `${index + 1}. ${minute(hit?.ts ?? session.lastAt)} · ${plainLine(session.project)} · ${title}${said}`;
}
