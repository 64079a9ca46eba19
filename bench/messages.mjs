// What is measured on: messages of labelled sets and books, or made up, and the questions asked about them.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Characters of a message cut from a book, and messages of a session made of such. */
const LENGTH = 625;
const SESSION = 200;
/** Between two messages, so that a million of them are months. */
const STEP_MS = 20_000;
const START = Date.UTC(2025, 0, 1);
/** Filtered questions, and as many quoted ones. */
const ASIDE = 300;

/** The labelled sets below a folder: their messages, and at most `limit` questions of each. */
export function labelled(folder, limit) {
	const messages = [];
	const questions = [];
	for (const set of readdirSync(folder).sort()) {
		if (!existsSync(join(folder, set, "queries.jsonl"))) continue;
		const placeOf = ({ conv }) => `${set}/${conv ?? "all"}`;
		const docs = jsonl(join(folder, set, "docs.jsonl"));
		for (const doc of docs)
			messages.push({ session: placeOf(doc), project: placeOf(doc), role: doc.role, text: doc.text });
		const places = new Map(docs.map((doc) => [doc.id, placeOf(doc)]));
		const all = jsonl(join(folder, set, "queries.jsonl"));
		const step = Math.max(1, all.length / limit);
		for (let n = 0; n < Math.min(limit, all.length); n++) {
			const { query, relevant } = all[Math.floor(n * step)];
			questions.push({ query, project: places.get(relevant[0]) ?? "books" });
		}
	}
	return { messages: messages.sort((a, b) => (a.session < b.session ? -1 : a.session > b.session ? 1 : 0)), questions };
}

/** Every book below a folder, cut into messages. */
export function books(folder) {
	return files(folder).flatMap((file, book) => {
		const characters = Array.from(readFileSync(file, "utf8"));
		return Array.from({ length: Math.ceil(characters.length / LENGTH) }, (_, n) => ({
			session: `book-${book}-${Math.floor(n / SESSION)}`,
			project: "books",
			role: n % 2 ? "assistant" : "user",
			text: characters.slice(n * LENGTH, (n + 1) * LENGTH).join(""),
		}));
	});
}

/** Messages made of the first half of one and the second half of another. */
export function* mixed(parts, count) {
	const random = generator(42);
	const any = () => parts[Math.floor(random() * parts.length)].text;
	for (let n = 0; n < count; n++) {
		const [first, second] = [any(), any()];
		yield numbered("mixed", n, `${first.slice(0, middle(first))}${second.slice(middle(second))}`);
	}
}

/** Messages of made-up words as unevenly spread as real ones, one in three of them Han. */
export function* made(count, seed = 42) {
	const random = generator(seed);
	const rank = (most) => Math.floor(Math.exp(random() * Math.log(most)));
	const han = (number) => String.fromCodePoint(0x4e00 + ((number * 7919) % 12_000));
	const word = () => `${"bcdfghklmnprstvz"[rank(17) - 1]}${rank(40_000).toString(36)}`;
	for (let n = 0; n < count; n++) {
		const chinese = random() < 1 / 3;
		const length = 20 + Math.floor(random() * (chinese ? 600 : 180));
		const text = Array.from({ length }, () => (chinese ? han(rank(12_000)) : word())).join(chinese ? "" : " ");
		yield numbered(`made-${seed}`, n, text);
	}
}

/** Questions in the words of some of the messages, for where nobody wrote any. */
export function questionsFrom(messages, count) {
	const random = generator(7);
	return sample(messages, count)
		.map(({ text, project }) => {
			const words = wordsOf(text);
			const picked = Array.from({ length: 4 }, () => Math.floor(random() * words.length)).sort((a, b) => a - b);
			return { query: [...new Set(picked)].map((at) => words[at]).join(" "), project };
		})
		.filter(({ query }) => query.length > 0);
}

/** All that is asked: as written, with a filter, and quoted passages of the messages themselves. */
export function asked(questions, messages) {
	const random = generator(11);
	// Of all that is there, of half, of a fiftieth, and a project of a few messages or of most.
	const at = (share) => START + messages.length * share * STEP_MS;
	const filters = [
		({ project }) => ({ project: cwdOf(project) }),
		() => ({ project: cwdOf("books") }),
		() => ({ role: "user" }),
		() => ({ since: at(0.5) }),
		() => ({ since: at(0.5), until: at(0.52) }),
		() => ({ until: at(0.02), role: "assistant" }),
	];
	const filtered = sample(questions, ASIDE).map((question, n) => ({
		query: question.query,
		options: filters[n % filters.length](question),
	}));
	const quoted = sample(messages, ASIDE).flatMap(({ text }) => {
		const from = Math.floor(random() * text.length * 0.8);
		const words = [...segmenter.segment(text.slice(from, from + 80))].slice(1, 6);
		const passage = words
			.map(({ segment }) => segment)
			.join("")
			.replaceAll('"', "")
			.trim();
		return passage ? [{ query: `"${passage}"` }] : [];
	});
	return { plain: questions.map(({ query }) => ({ query })), filtered, quoted };
}

/** Writes messages as pi's session files; how many there were and the bytes of their text. */
export function writeSessions(folder, messages) {
	mkdirSync(folder, { recursive: true });
	let [session, lines, file, ts, count, bytes] = [undefined, [], 0, START, 0, 0];
	const flush = () => {
		if (lines.length > 0)
			writeFileSync(join(folder, `${String(file++).padStart(6, "0")}.jsonl`), `${lines.join("\n")}\n`);
		lines = [];
	};
	for (const message of messages) {
		const timestamp = new Date(ts).toISOString();
		if (message.session !== session) {
			flush();
			session = message.session;
			const cwd = cwdOf(message.project);
			lines.push(JSON.stringify({ type: "session", version: 3, id: `${session}#${file}`, timestamp, cwd }));
		}
		const role = message.role === "user" ? "user" : "assistant";
		const content = [{ type: "text", text: message.text }];
		const id = count.toString(16).padStart(8, "0");
		lines.push(
			JSON.stringify({ type: "message", id, parentId: null, timestamp, message: { role, content, timestamp: ts } }),
		);
		ts += STEP_MS;
		count++;
		bytes += Buffer.byteLength(message.text);
	}
	flush();
	return { messages: count, bytes };
}

/** As many of the items, evenly spread. */
export function sample(items, count) {
	const step = Math.max(1, items.length / count);
	return Array.from({ length: Math.min(count, items.length) }, (_, n) => items[Math.floor(n * step)]);
}

/** The longest word, the way a person picks one to scan for. */
export function longestWord(text) {
	return wordsOf(text).reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

const segmenter = new Intl.Segmenter("zh", { granularity: "word" });

function wordsOf(text) {
	return [...segmenter.segment(text.slice(0, 2_000))].filter((part) => part.isWordLike).map((part) => part.segment);
}

function cwdOf(project) {
	return project.startsWith("/") ? project : `/bench/${project}`;
}

function numbered(name, n, text) {
	const session = Math.floor(n / SESSION);
	const role = n % 2 ? "assistant" : "user";
	return { session: `${name}-${session}`, project: `${name}-${session % 50}`, role, text };
}

/** Half of a text, not between the halves of a character. */
function middle(text) {
	const at = text.length >> 1;
	return /[\udc00-\udfff]/.test(text[at] ?? "") ? at + 1 : at;
}

function jsonl(file) {
	return readFileSync(file, "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));
}

function files(folder) {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
		.sort();
}

/** A small generator of even numbers in [0, 1), the same every time. */
function generator(seed) {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}
