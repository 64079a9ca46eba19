// /recall import: brings in session files, shows how far it is, and says what it left out.

import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { matchesKey } from "@earendil-works/pi-tui";
import type { ImportOptions, ImportReport } from "../../index.js";
import { expandHome, storePath } from "../config.ts";
import { harmless, megabytes, tilde } from "../format.ts";
import { type Memory, say } from "../memory.ts";
import { number, type Words } from "../words.ts";
import { type Answer, show } from "./answer.ts";

const STATUS = "memory";
/** The footer is drawn this often at most. */
const DRAW_MS = 150;
/** Before this long the time left is not told: the first files say little about the rest. */
const TELLING_MS = 500;
/** Lines left out that a notice names, and the file that names all of them when there are more. */
const NAMED = 10;
const LIST = "import-left-out.txt";
/** Paths that are offered. */
const OFFERED = 20;

/** Imports everything new, or the folder, file or store named; while an import runs, ends it. */
export async function importSessions(
	memory: Memory,
	from: string,
	ctx: ExtensionCommandContext,
): Promise<Answer | undefined> {
	if (memory.asked) {
		memory.asked.abort();
		return undefined;
	}
	memory.asked = new AbortController();
	const started = Date.now();
	let drawn = 0;
	const cancel = ctx.mode === "tui" ? ` · ${memory.words.importEsc}` : "";
	const options: ImportOptions = {
		...(from ? { from: pathOf(from, ctx.cwd) } : { also: memory.folders(ctx) }),
		onProgress: ({ filesDone, files, bytesDone, bytes, stored }) => {
			const now = Date.now();
			if (now - drawn < DRAW_MS) return;
			drawn = now;
			const left = secondsLeft(now - started, bytesDone, bytes);
			status(ctx, memory.words.importing(filesDone, files, megabytes(bytesDone), stored, left) + cancel);
		},
	};
	const unlisten = cancelOnEscape(memory, ctx);
	const done = memory
		.import(options, memory.asked)
		.finally(() => {
			memory.asked = undefined;
			unlisten();
			status(ctx, undefined);
		})
		.then((report): Answer => {
			const named = ctx.hasUI ? NAMED : Number.POSITIVE_INFINITY;
			return { text: reportText(report, memory.words, named), data: report };
		});
	if (!ctx.hasUI) return done;
	// pi stays usable meanwhile, and a second command cancels.
	done.then(
		(answer) => show(answer, ctx),
		(error) => say(ctx, memory.explain(error), "error"),
	);
	return undefined;
}

/** As long as the bytes still to read take at the pace so far. */
function secondsLeft(elapsed: number, done: number, all: number): number | undefined {
	if (elapsed < TELLING_MS || done === 0) return undefined;
	return Math.ceil((elapsed * (all - done)) / done / 1000);
}

/** Esc ends the import where pi itself has nothing for it to end. */
function cancelOnEscape(memory: Memory, ctx: ExtensionCommandContext): () => void {
	if (ctx.mode !== "tui") return () => {};
	return ctx.ui.onTerminalInput((data) => {
		if (!matchesKey(data, "escape") || memory.screenIsOpen || !ctx.isIdle()) return undefined;
		memory.asked?.abort();
		return { consume: true };
	});
}

function status(ctx: ExtensionCommandContext, text: string | undefined): void {
	try {
		ctx.ui.setStatus(STATUS, text);
	} catch {
		// The session was replaced, its footer is gone.
	}
}

function pathOf(named: string, cwd: string): string {
	const path = named.replace(/^(["'])(.*)\1$/, "$2");
	return resolve(cwd, expandHome(path));
}

/** Folders, session files and stores that a path may become. */
export async function pathsFor(begun: string): Promise<{ value: string; label: string }[]> {
	const folder = /^.*[/\\]/.exec(begun)?.[0] ?? "";
	const name = begun.slice(folder.length);
	const entries = await readdir(expandHome(folder) || ".", { withFileTypes: true });
	return entries
		.filter((entry) => entry.name.startsWith(name) && (name !== "" || !entry.name.startsWith(".")))
		.filter((entry) => entry.isDirectory() || /\.(jsonl|db)$/.test(entry.name))
		.map((entry) => `${entry.name}${entry.isDirectory() ? "/" : ""}`)
		.sort()
		.slice(0, OFFERED)
		.map((label) => ({ value: folder + label, label }));
}

/** An import's report for a person, with so many of the lines left out; where there are more, a file has them all. */
function reportText(report: ImportReport, words: Words, most: number): string {
	if (report.files === 0) return words.noFiles(report.folders.map((folder) => tilde(folder)).join(words.comma));
	const unknown = Object.entries(report.unknownTypes).map(([type, count]) => `${type} × ${number(count)}`);
	const skipped = report.skipped.map(
		({ file, line, reason }) => `  ${tilde(file)}${line ? `:${line}` : ""}: ${reason}`,
	);
	return harmless(
		[
			words.imported(report.stored, report.sessions, report.files, (report.elapsedMs / 1000).toFixed(1)),
			...(report.duplicates > 0 ? [words.duplicates(report.duplicates)] : []),
			...(skipped.length > 0 ? [words.skipped(skipped.length)] : []),
			...skipped.slice(0, most),
			...(skipped.length > most ? [`  ${othersOf(skipped, most, words)}`] : []),
			...(unknown.length > 0 ? [words.unknownTypes(unknown.join(words.comma))] : []),
			...(report.cancelled ? [words.importCancelled] : []),
		].join("\n"),
	);
}

/** Says where the others are: all the lines are written into a file beside the store. */
function othersOf(lines: string[], most: number, words: Words): string {
	const file = join(dirname(storePath()), LIST);
	try {
		writeFileSync(file, `${harmless(lines.map((line) => line.trim()).join("\n"))}\n`, { mode: 0o600 });
	} catch {
		return words.andMore(lines.length - most);
	}
	return words.moreIn(lines.length - most, tilde(file));
}
