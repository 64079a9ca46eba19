// /recall stats: how much is kept, over which weeks, of which projects, and what waits for an import.

import type { Stats, Waiting } from "../../index.js";
import { day, megabytes, tilde } from "../format.ts";
import { number, type Words } from "../words.ts";

/** Weeks and projects that are drawn. */
const WEEKS = 26;
const PROJECTS = 8;
const BAR = 24;
const LEVELS = "▁▂▃▄▅▆▇█";

/** The store's figures as a small table with two charts. */
export function statsText(stats: Stats, words: Words, waiting?: Waiting): string {
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
	return [
		...rows.map(([name, value]) => `${name}: ${value}`),
		...weekLines(stats.weeks.slice(-WEEKS), words),
		...projectLines(stats.topProjects.slice(0, PROJECTS), words),
		...(waiting && waiting.all > 0 ? [words.share(waiting.all - waiting.files, waiting.all)] : []),
	].join("\n");
}

function weekLines(weeks: Stats["weeks"], words: Words): string[] {
	const [first, last] = [weeks.at(0), weeks.at(-1)];
	if (!first || !last || first === last) return [];
	const most = Math.max(...weeks.map((week) => week.messages), 1);
	const bar = weeks.map((week) => (week.messages > 0 ? level(week.messages / most) : " ")).join("");
	return [`${words.stats.weeks}: ${day(first.start)} ${bar} ${day(last.start)}`];
}

function projectLines(projects: Stats["topProjects"], words: Words): string[] {
	const most = Math.max(...projects.map((project) => project.messages), 1);
	return projects.length < 2
		? []
		: [
				`${words.stats.busiest}:`,
				...projects.map(
					({ project, messages }) =>
						`  ${"█".repeat(Math.max(1, Math.round((messages / most) * BAR))).padEnd(BAR)} ${number(messages)} ${project}`,
				),
			];
}

function level(share: number): string {
	return LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))] ?? "";
}
