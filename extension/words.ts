// Every string a person sees, in one table per language.

export type Language = "en" | "zh";

const en = {
	/** Unicode's name of the locale: numbers, relative times. */
	locale: "en",
	image: "[image]",
	addonMissing: "memory is off: its native part does not load here.",
	captureFailed: (why: string) => `memory: not kept for now; the next import closes the gap. ${why}`,
	storeFailed: (why: string) => `memory is off: ${why}`,
	configProblem: (file: string, problem: string) => `memory: ${file}: ${problem}`,
	failed: (why: string) => `memory: ${why}`,

	recall: "Search what was said in past sessions",
	recallImport: "bring in pi's existing session files",
	recallStats: "how much is kept",
	recallForget: "forget a session, a message, a project or a time for good",
	recallCheck: "what state the store is in, and repair it",
	recallPause: "keep nothing of this session until you give it again",
	recallExport: "write a session, or what a search finds, as Markdown",

	hits: (hits: string, sessions: number) => `${hits} in ${plural(sessions, "session")}`,
	messages: (count: number, more = false) => plural(count, "message", more),
	someWords: "no message has every word",
	missing: (words: string) => `nothing has: ${words}`,
	cutShort: "the search was cut short: its words are too common",
	copies: (count: number) => `also in ${plural(count, "fork")}`,
	moreHits: (count: number) => `${number(count)} more; narrow it with further words`,
	noHit: (query: string) => `Nothing found for “${query}”.`,
	noWord: "The query has no word to search for.",
	searched: (messages: number, sessions: number, since: string) =>
		`Searched ${plural(messages, "message")} in ${plural(sessions, "session")}${since ? `, the oldest of ${since}` : ""}.`,
	waiting: (files: number) =>
		`${number(files)} session ${files === 1 ? "file is" : "files are"} not in yet: /recall import brings ${files === 1 ? "it" : "them"} in.`,
	nothingKept: "Nothing is kept yet.",
	latest: "Latest sessions",

	importing: (done: number, all: number, megabytes: string, stored: number) =>
		`memory: importing ${number(done)}/${number(all)} files · ${megabytes} MB · ${number(stored)} messages`,
	imported: (stored: number, sessions: number, files: number, seconds: string) =>
		`${plural(stored, "new message")} from ${plural(sessions, "session")} (${plural(files, "file")}, ${seconds} s).`,
	importCancelled: "Cancelled; what is in stays in. /recall import goes on from there.",
	duplicates: (count: number) => `${number(count)} were in already.`,
	skipped: (count: number) => `${number(count)} left out:`,
	andMore: (count: number) => `… and ${number(count)} more`,
	unknownTypes: (types: string) => `Entry types nobody knows yet: ${types}`,
	noFiles: (folders: string) => `No session file found. Looked in: ${folders}`,

	stats: {
		store: "store",
		size: "size",
		messages: "messages",
		sessions: "sessions",
		projects: "projects",
		oldest: "oldest",
		newest: "newest",
		weeks: "by week",
		busiest: "busiest projects",
	},
	allIn: "Every session file of pi's is in.",

	forgetUsage:
		"Say what to forget: /recall forget session:ID, message:ID, project:NAME, since:DATE, until:DATE; several must all hold.",
	forgetNothing: "Nothing in the store fits; nothing was forgotten.",
	forgetQuestion: (what: string) => `${what} would be forgotten for good.`,
	forgetAgain: (command: string) => `To do it: ${command}`,
	forgetNot: "Nothing was forgotten.",
	forgotten: (what: string) => `Forgotten: ${what}. No import brings it back.`,
	forgetStillIn: "pi's own files still hold the text:",

	healthy: "The store is sound.",
	damaged: "The store is damaged; /recall check repair mends what can be mended.",
	repaired: (what: string) => `repaired: ${what}`,

	paused: "Paused: nothing said from now on is kept. /recall pause goes on.",
	resumed: "Going on: what is said is kept again; what was said in between stays out.",
	pausedStatus: "memory paused",
	notKept: "This session has no file and is not kept anyway.",

	exportUsage: "Say what to export: /recall export SESSION, or words to search for.",
	exported: (file: string) => `Written: ${file}`,
};

export type Words = typeof en;

const zh: Words = {
	locale: "zh-CN",
	image: "[图片]",
	addonMissing: "记忆功能没有启用：它的本机部分在这里加载不了。",
	captureFailed: (why) => `记忆：暂时没有存下来，下次导入会补齐。${why}`,
	storeFailed: (why) => `记忆功能没有启用：${why}`,
	configProblem: (file, problem) => `记忆：${file}：${problem}`,
	failed: (why) => `记忆：${why}`,

	recall: "搜索以前会话里说过的话",
	recallImport: "导入 pi 已有的会话文件",
	recallStats: "看看存了多少",
	recallForget: "永久忘掉一个会话、一条消息、一个项目或一段时间",
	recallCheck: "检查库的状态，坏了就修",
	recallPause: "这个会话从现在起不再保存，再输入一次恢复",
	recallExport: "把一个会话或搜索结果写成 Markdown",

	hits: (hits, sessions) => `${sessions} 个会话里的 ${hits}`,
	messages: (count, more = false) => `${number(count)}${more ? "+" : ""} 条消息`,
	someWords: "没有哪条消息包含所有的词",
	missing: (words) => `哪里都没有：${words}`,
	cutShort: "搜索提前结束：词太常见",
	copies: (count) => `另有 ${count} 个分支会话含有它`,
	moreHits: (count) => `还有 ${number(count)} 条，再加几个词缩小范围`,
	noHit: (query) => `没有找到“${query}”。`,
	noWord: "查询里没有可以搜索的词。",
	searched: (messages, sessions, since) =>
		`搜索了 ${number(sessions)} 个会话的 ${number(messages)} 条消息${since ? `，最早到 ${since}` : ""}。`,
	waiting: (files) => `还有 ${number(files)} 个会话文件没有导入：用 /recall import 导入。`,
	nothingKept: "还没有存下任何消息。",
	latest: "最近的会话",

	importing: (done, all, megabytes, stored) =>
		`记忆：正在导入 ${number(done)}/${number(all)} 个文件 · ${megabytes} MB · ${number(stored)} 条消息`,
	imported: (stored, sessions, files, seconds) =>
		`从 ${number(sessions)} 个会话新导入 ${number(stored)} 条消息（${number(files)} 个文件，${seconds} 秒）。`,
	importCancelled: "已取消，已经导入的会保留；再次 /recall import 会接着来。",
	duplicates: (count) => `${number(count)} 条早已存下。`,
	skipped: (count) => `略过 ${number(count)} 处：`,
	andMore: (count) => `……还有 ${number(count)} 处`,
	unknownTypes: (types) => `还不认识的条目类型：${types}`,
	noFiles: (folders) => `没有找到会话文件。找过：${folders}`,

	stats: {
		store: "存储",
		size: "大小",
		messages: "消息",
		sessions: "会话",
		projects: "项目",
		oldest: "最早",
		newest: "最新",
		weeks: "每周",
		busiest: "消息最多的项目",
	},
	allIn: "pi 的会话文件都已导入。",

	forgetUsage:
		"说明要忘掉什么：/recall forget session:会话、message:消息号、project:项目、since:日期、until:日期；写了几个就要同时满足。",
	forgetNothing: "库里没有符合的消息，什么也没忘。",
	forgetQuestion: (what) => `${what}将被永久忘掉。`,
	forgetAgain: (command) => `确定的话：${command}`,
	forgetNot: "什么也没忘。",
	forgotten: (what) => `忘掉了 ${what}，以后导入也不会回来。`,
	forgetStillIn: "pi 自己的文件里还有原文：",

	healthy: "库是完好的。",
	damaged: "库有损坏；/recall check repair 修复能修的部分。",
	repaired: (what) => `已修复：${what}`,

	paused: "已暂停：从现在起说的话不再保存，再输入 /recall pause 恢复。",
	resumed: "已恢复：从现在起说的话会保存，暂停期间的不会补回来。",
	pausedStatus: "记忆已暂停",
	notKept: "这个会话没有文件，本来就不保存。",

	exportUsage: "说明要导出什么：/recall export 会话，或要搜索的词。",
	exported: (file) => `已写入：${file}`,
};

/** A count with thousands separated, the same in both languages. */
export function number(count: number): string {
	return count.toLocaleString("en");
}

/** A count of English things; `more` says that there are more than counted. */
export function plural(count: number, noun: string, more = false): string {
	return `${number(count)}${more ? "+" : ""} ${noun}${count === 1 && !more ? "" : "s"}`;
}

/** The language the environment asks for: the first of LC_ALL, LC_MESSAGES and LANG that is set decides. */
export function languageOf(env: Record<string, string | undefined>): Language {
	const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || "";
	return /^zh([_.@-]|$)/i.test(locale) ? "zh" : "en";
}

/** The strings of a language. */
export function wordsOf(language: Language): Words {
	return language === "zh" ? zh : en;
}
