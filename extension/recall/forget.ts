// /recall forget: says what would go, asks, and forgets it for good.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { ForgetOptions } from "../../index.js";
import { cut, harmless, tilde, titleOf } from "../format.ts";
import type { Memory } from "../memory.ts";
import type { Answer } from "./answer.ts";
import type { Item } from "./find.ts";
import { Menu } from "./menu.ts";
import { plainLine } from "./paint.ts";
import { complete, completions, momentOf } from "./query.ts";

const CONDITION = /(session|message|project|since|until)[:：](?:"([^"]*)"|(\S+))/g;
/** What a script adds where there is nobody to ask. */
const CONSENT = "yes";
/** Files that the screen's question names. */
const FILES = 3;
/** How much it says of what would go. */
const NAME = 60;

const CONDITIONS = ["session:", "message:", "project:", "since:", "until:"];

/** What the last condition may become. */
export function conditionsFor(memory: Memory, rest: string): { value: string; label: string }[] {
	const before = rest.replace(/\S*$/, "");
	const begun = rest.slice(before.length);
	const names = CONDITIONS.filter((name) => name.startsWith(begun) && name !== begun);
	if (names.length > 0) return names.map((name) => ({ value: before + name, label: name }));
	return completions(rest, memory).map((one) => ({ value: complete(rest, one).trimEnd(), label: one.label }));
}

/** Whether the words after `forget` name something to forget; otherwise they are words to search for. */
export function isForgetting(rest: string): boolean {
	const others = rest.replaceAll(CONDITION, "").trim();
	return others === "" || others === CONSENT;
}

/** The screen's question: what would go, and which files keep the text. */
export async function forgetMenu(
	{ store, words }: Memory,
	{ session: about, hit }: Item,
	forget: (what: { message: number } | { session: string }) => void,
): Promise<Menu> {
	const { screen } = words;
	const session = { session: about.id };
	const message = hit && { message: hit.id };
	const [all, one] = await Promise.all([
		store.forget({ ...session, dryRun: true }),
		message && store.forget({ ...message, dryRun: true }),
	]);
	const still = [...new Set([...(one?.stillIn ?? []), ...all.stillIn])];
	const files = still.slice(0, FILES).map((file) => tilde(file));
	// The list is out of sight while the question stands.
	const named = (label: string, what: string) => `${label} · ${cut(plainLine(what), NAME)}`;
	const choices = [{ label: screen.keepIt, run: () => {} }];
	if (message && one) {
		const label = screen.forgetMessage(one.messages, one.sessions);
		choices.push({ label: named(label, hit.snippet), run: () => forget(message) });
	}
	const label = screen.forgetSession(all.messages, all.sessions);
	choices.push({ label: named(label, titleOf(about)), run: () => forget(session) });
	const more = still.length > FILES ? [words.andMore(still.length - FILES)] : [];
	const question = [screen.forgetTitle, ...(still.length > 0 ? [words.forgetStillIn, ...files, ...more] : [])];
	return new Menu(question, choices);
}

/** Forgets what meets every condition, after asking. */
export async function forget(memory: Memory, rest: string, ctx: ExtensionCommandContext): Promise<Answer> {
	const { words, store } = memory;
	const conditions = conditionsIn(rest);
	if (Object.keys(conditions).length === 0) return { text: words.forgetUsage, data: { error: words.forgetUsage } };
	const would = await store.forget({ ...conditions, dryRun: true });
	if (would.messages === 0) return { text: words.nothingToForget, data: would };
	const question = words.forgetQuestion(words.hits(words.messages(would.messages), would.sessions));
	if (ctx.hasUI) {
		if (!(await ctx.ui.confirm("/recall forget", harmless(question)))) return { text: words.notForgotten, data: would };
	} else if (!new RegExp(`\\b${CONSENT}$`).test(rest)) {
		return { text: `${question}\n${words.forgetAgain(`/recall forget ${rest} ${CONSENT}`)}`, data: would };
	}
	const report = await store.forget(conditions);
	const still = report.stillIn.map((file) => `  ${tilde(file)}`);
	const lines = [
		words.forgotten(words.messages(report.messages)),
		...(still.length > 0 ? [words.forgetStillIn, ...still] : []),
	];
	return { text: lines.join("\n"), data: report };
}

function conditionsIn(rest: string): ForgetOptions {
	const conditions: ForgetOptions = {};
	for (const [, name = "", quoted, plain] of rest.matchAll(CONDITION)) {
		Object.assign(conditions, { [name]: conditionOf(name, quoted ?? plain ?? "") });
	}
	return conditions;
}

function conditionOf(name: string, value: string): string | number {
	if (name === "message") return Number(value.replace(/^#/, ""));
	if (name !== "since" && name !== "until") return value;
	// The same dates as in a search; what is none, the store refuses and says so.
	return momentOf(value, name === "until") ?? value;
}
