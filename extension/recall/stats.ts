// /recall stats: how much is kept, over which weeks, of which projects, and what waits for an import.

import type { Stats, Waiting } from "../../index.js";
import { day, megabytes, tilde } from "../format.ts";
import { number, type Words } from "../words.ts";

/** Weeks and projects that are drawn. */
const WEEKS = 26;
const WEEK_MS = 7 * 86_400_000;
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
		...rows.map(([name, value]) => names.row(name, value)),
		...weekLines(stats.weeks.slice(-WEEKS), words),
		...projectLines(stats.topProjects.slice(0, PROJECTS), words),
		...(waiting && waiting.all > 0 ? [words.share(waiting.all - waiting.files, waiting.all)] : []),
	].join("\n");
}

/** A bar a week up to the newest; the store names the weeks in which something was said. */
function weekLines(weeks: Stats["weeks"], words: Words): string[] {
	const last = weeks.at(-1);
	if (!last || weeks.length < 2) return [];
	const weeksAgo = ({ start }: { start: number }) => Math.round((last.start - start) / WEEK_MS);
	const counts = Array<number>(Math.min(WEEKS, weeksAgo(weeks[0] ?? last) + 1)).fill(0);
	for (const week of weeks) if (weeksAgo(week) < counts.length) counts[weeksAgo(week)] = week.messages;
	const most = Math.max(...counts);
	const bars = counts.map((count) => (count > 0 ? level(count / most) : " ")).reverse();
	const first = new Date(last.start);
	first.setDate(first.getDate() - 7 * (counts.length - 1));
	return [words.stats.row(words.stats.weeks, `${day(first.getTime())} ${bars.join("")} ${day(last.start)}`)];
}

function projectLines(projects: Stats["topProjects"], words: Words): string[] {
	if (projects.length < 2) return [];
	const most = Math.max(...projects.map((project) => project.messages));
	const bars = projects.map(({ project, messages }) => {
		const bar = "█".repeat(Math.max(1, Math.round((messages / most) * BAR)));
		return `  ${bar.padEnd(BAR)} ${number(messages)} ${project || words.stats.noFolder}`;
	});
	return [words.stats.row(words.stats.busiest, "").trimEnd(), ...bars];
}

function level(share: number): string {
	return LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))] ?? "";
}
