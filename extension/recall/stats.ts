// /recall stats: how much is kept.

import type { Stats } from "../../index.js";
import { day, megabytes, tilde } from "../format.ts";
import { number, type Words } from "../words.ts";

/** The store's figures as a small table. */
export function statsText(stats: Stats, words: Words): string {
	const names = words.stats;
	const rows: [string, string][] = [
		[names.store, tilde(stats.path)],
		[names.size, `${megabytes(stats.bytes)} MB`],
		[names.messages, number(stats.messages)],
		[names.sessions, number(stats.sessions)],
		[names.projects, number(stats.projects)],
	];
	if (stats.oldest !== undefined) rows.push([names.oldest, day(stats.oldest)]);
	if (stats.newest !== undefined) rows.push([names.newest, day(stats.newest)]);
	return rows.map(([name, value]) => `${name}: ${value}`).join("\n");
}
