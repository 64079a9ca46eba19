// Settings from config.json in the store's folder. A wrong one is named and takes its default; none is fatal.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Language, Words } from "./words.ts";

export interface Config {
	/** The interface's language; by default the environment's. */
	language?: Language;
	/** Whether the model searches every project unless it names one; false: the present one. */
	searchAllProjects: boolean;
	/** Whether runs without a person (print and json mode) are kept. */
	keepScriptedRuns: boolean;
	/** Whether what other extensions tell the model is kept. */
	keepExtensionMessages: boolean;
	/** Globs of folders whose sessions are never kept. */
	excludeFolders: string[];
	/** Put before the names of the model's tools, where another extension owns them. */
	toolPrefix: string;
}

export interface ReadConfig {
	file: string;
	config: Config;
	/** What is wrong, in the language that the settings themselves decide. */
	problems: ((words: Words) => string)[];
}

const DEFAULTS: Config = {
	searchAllProjects: true,
	keepScriptedRuns: true,
	keepExtensionMessages: false,
	excludeFolders: [],
	toolPrefix: "",
};

interface Check {
	accepts(value: unknown): boolean;
	/** What the words call a right value. */
	wanted: keyof Words["config"]["wanted"];
}

const flag: Check = { accepts: (value) => typeof value === "boolean", wanted: "flag" };

const CHECKS: Record<keyof Config, Check> = {
	language: { accepts: (value) => value === "en" || value === "zh", wanted: "language" },
	searchAllProjects: flag,
	keepScriptedRuns: flag,
	keepExtensionMessages: flag,
	excludeFolders: {
		accepts: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
		wanted: "globs",
	},
	toolPrefix: {
		accepts: (value) => typeof value === "string" && /^[a-zA-Z0-9_-]{0,32}$/.test(value),
		wanted: "prefix",
	},
};

/** Where the store is: PI_MEMORY_DB, else ~/.pi/memory/sessions.db. */
export function storePath(env = process.env): string {
	const named = env.PI_MEMORY_DB;
	return named ? resolve(expandHome(named)) : join(home(), ".pi", "memory", "sessions.db");
}

/** The home folder; nothing where the system knows none, which must not keep pi from starting. */
export function home(): string {
	try {
		return homedir();
	} catch {
		return "";
	}
}

/** A path with a leading ~ as the home folder. */
export function expandHome(path: string): string {
	return path.replace(/^~(?=$|[/\\])/, home());
}

/** The settings, and what is wrong with them. */
export function readConfig(file = join(dirname(storePath()), "config.json")): ReadConfig {
	const config = { ...DEFAULTS };
	const problems: ReadConfig["problems"] = [];
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") problems.push(() => String(error));
		return { file, config, problems };
	}
	let found: unknown;
	try {
		found = JSON.parse(text);
	} catch (error) {
		return { file, config, problems: [({ config: say }) => say.notJson((error as Error).message)] };
	}
	if (typeof found !== "object" || found === null || Array.isArray(found)) {
		return { file, config, problems: [({ config: say }) => say.notObject] };
	}
	for (const [name, value] of Object.entries(found)) {
		// Not what every object has: "constructor" is no setting.
		const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof Config] : undefined;
		if (!check) {
			problems.push(({ config: say, comma }) => say.unknown(name, Object.keys(CHECKS).join(comma)));
		} else if (!check.accepts(value)) {
			problems.push(({ config: say }) => say.wrong(name, say.wanted[check.wanted]));
		} else Object.assign(config, { [name]: value });
	}
	return { file, config, problems };
}
