// Hits of one session that say nearly what a better one says: an edit that was tried seven times is one line of the list.

import type { Item } from "./find.ts";

/** The share of words two passages have in common to be nearly the same. */
const ALIKE = 0.8;

/** The hits of one session, best first, without those that are like one before; that one counts them. */
export function fold(items: Item[]): Item[] {
	const kept: { item: Item; words: Set<string> }[] = [];
	for (const item of items) {
		const words = wordsIn(item.hit?.snippet ?? "");
		const like = kept.find((other) => other.item.hit?.role === item.hit?.role && common(other.words, words) >= ALIKE);
		if (like) like.item.alike = (like.item.alike ?? 0) + 1;
		else kept.push({ item, words });
	}
	return kept.map(({ item }) => item);
}

function wordsIn(text: string): Set<string> {
	return new Set(text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []);
}

function common(one: Set<string>, other: Set<string>): number {
	let both = 0;
	for (const word of one) if (other.has(word)) both += 1;
	return both / Math.max(1, one.size + other.size - both);
}
