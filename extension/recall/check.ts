// /recall check: what state the store is in, and repairs what can be.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Health } from "../../index.js";
import type { Memory } from "../memory.ts";
import type { Words } from "../words.ts";
import type { Answer } from "./answer.ts";

/** What a script adds where there is nobody to ask. */
export const REPAIR = "repair";

/** Looks the store over; what is damaged is repaired after asking. */
export async function check(memory: Memory, rest: string, ctx: ExtensionCommandContext): Promise<Answer> {
	const { words, store } = memory;
	const health = await store.check();
	const wanted = health.ok || rest === REPAIR || !ctx.hasUI;
	const repair = wanted ? rest === REPAIR : await ctx.ui.confirm("/recall check", healthText(health, words));
	const after = repair && !health.ok ? await store.check({ repair: true }) : health;
	return { text: healthText(after, words), data: after };
}

function healthText(health: Health, words: Words): string {
	return [
		health.ok ? words.healthy : words.damaged,
		...health.problems.map((problem) => `  ${problem}`),
		...health.repaired.map((repair) => `  ${words.repaired(repair)}`),
	].join("\n");
}
