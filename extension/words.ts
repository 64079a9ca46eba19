// Every string a person sees, in one table per language.

export type Language = "en" | "zh";
export type TimeUnit = "year" | "month" | "week" | "day" | "hour" | "minute";

const en = {
	/** Between the items of a list. */
	comma: ", ",
	now: "now",
	ago: (count: number, unit: TimeUnit) => `${plural(count, unit)} ago`,
	agoShort: (count: number, unit: TimeUnit) =>
		`${count}${{ year: "y", month: "mo", week: "w", day: "d", hour: "h", minute: "min" }[unit]}`,
	addonMissing: "memory is off: its native part does not load here.",
	captureFailed: (why: string) => `memory: not kept for now; the next import closes the gap. ${why}`,
	storeFailed: (why: string) => `memory is off: ${why}`,
	configProblem: (file: string, problem: string) => `memory: ${file}: ${problem}`,
	config: {
		notJson: (why: string) => `is no JSON (${why})`,
		notObject: "wants an object",
		unknown: (setting: string, known: string) => `"${setting}" is no setting; known: ${known}`,
		wrong: (setting: string, wanted: string) => `"${setting}" wants ${wanted}`,
		wanted: {
			language: '"en" or "zh"',
			flag: "true or false",
			globs: "a list of globs",
			prefix: "at most 32 letters, digits, _ or -",
		},
	},
	failed: (why: string) => `memory: ${why}`,
	secondCopy: (here: string, there: string) =>
		`memory: pi-memory-sessions is there twice; ${there} is used, ${here} does nothing and can be removed.`,
	toolTaken: (tool: string, owner: string, file: string) =>
		`memory: ${owner} already has a tool ${tool}, so the model searches with that one; a "toolPrefix" in ${file} gives it ours as well.`,

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

	importing: (done: number, all: number, megabytes: string, stored: number, left?: number) =>
		`memory: importing ${number(done)}/${number(all)} files · ${megabytes} MB · ${number(stored)} messages${left === undefined ? "" : ` · ${left < 90 ? `${left} s` : `${Math.round(left / 60)} min`} left`}`,
	imported: (stored: number, sessions: number, files: number, seconds: string) =>
		`${plural(stored, "new message")} from ${plural(sessions, "session")} (${plural(files, "file")}, ${seconds} s).`,
	importEsc: "esc cancels",
	importCancelled: "Cancelled; what is in stays in. /recall import goes on from there.",
	duplicates: (count: number) => `${number(count)} were in already.`,
	skipped: (count: number) => `${number(count)} left out:`,
	andMore: (count: number) => `… and ${number(count)} more`,
	moreIn: (count: number, file: string) => `… and ${number(count)} more; all are named in ${file}`,
	unknownTypes: (types: string) => `Entry types nobody knows yet: ${types}`,
	noFiles: (folders: string) => `No session file found. Looked in: ${folders}`,

	stats: {
		row: (name: string, value: string) => `${name}: ${value}`,
		store: "store",
		size: "size",
		messages: "messages",
		sessions: "sessions",
		projects: "projects",
		oldest: "oldest",
		newest: "newest",
		weeks: "by week",
		busiest: "busiest projects",
		noFolder: "(no folder)",
	},
	/** What share of pi's session files is in. */
	share: (files: number, all: number) =>
		files === all
			? `pi's session files: all ${number(all)} in`
			: `pi's session files: ${percent(files, all)} in (${number(files)} of ${number(all)}); /recall import brings in the rest`,

	forgetUsage:
		"Say what to forget: /recall forget session:ID, message:ID, project:NAME, since:DATE, until:DATE; several must all hold.",
	nothingToForget: "Nothing in the store fits; nothing was forgotten.",
	forgetQuestion: (what: string) => `${what} would be forgotten for good.`,
	forgetAgain: (command: string) => `To do it: ${command}`,
	notForgotten: "Nothing was forgotten.",
	forgotten: (what: string) => `Forgotten: ${what}. No import brings it back.`,
	forgetStillIn: "these files still hold the text, or may:",

	healthy: "The store is sound.",
	damaged: "The store is damaged; /recall check repair mends what can be mended.",
	repaired: (what: string) => `repaired: ${what}`,

	paused: "Paused: nothing said from now on is kept. /recall pause goes on.",
	resumed: "Going on: what is said is kept again; what was said in between stays out.",
	pausedStatus: "memory paused",
	notKept: "This session has no file and is not kept anyway.",

	exportUsage: "Say what to export: /recall export SESSION, or words to search for.",
	exported: (file: string) => `Written: ${file}`,
	screen: {
		title: "recall",
		placeholder: "Search everything said; project: since: until: role: session: narrow it",
		roles: { user: "you", assistant: "pi", tool_error: "error", summary: "summary" },
		thisProject: "this project",
		allProjects: "all projects",
		untitled: "(no words)",
		beginning: (word: string) => `words that begin with ${word}`,
		matches: (count: string) => `${count} ${count === "1" ? "match" : "matches"}`,
		alike: (count: number) => `+${number(count)} alike`,
		wrongRole: (value: string) => `role:${value}? user, assistant, tool_error or summary.`,
		wrongDate: (value: string) => `${value}? A date such as 2026-10-01, 2026-10, 7d or yesterday.`,
		noSession: "No session fits.",
		searchAll: (key: string) => `Only this project was searched; ${key} searches all.`,
		offerImport: (files: number, key: string) =>
			`${number(files)} session ${files === 1 ? "file of pi's is" : "files of pi's are"} waiting: ${key} imports ${files === 1 ? "it" : "them"}.`,
		moreCharacters: (count: string) => `… ${count} more characters`,
		truncated: "… cut when it was kept",
		copied: "Copied.",
		noEntry: "This message's place in pi's file is not known; Enter resumes its session.",
		fileGone: "pi's file of this session is gone; what was said is kept here.",
		otherSession: (file: string) => `${file} holds another session now; nothing was opened.`,
		entryGone: "pi's file does not hold this message any more; Enter resumes its session.",
		forked: "this new session ends here",
		alreadyHere: "You are in this session.",
		busyTitle: "pi is working",
		busy: "Leaving the session ends its answer. Leave?",
		saidHere: "said in this session",
		startNew: "Start a new session with this excerpt",
		keepReading: "Read it here",
		backToList: "Back to the list",
		searchAgain: "Search for something else …",
		forgetTitle: "Forget for good? No import brings it back.",
		keepIt: "Keep it",
		forgetMessage: (messages: number, sessions: number) =>
			messages === 1
				? "Forget this message"
				: `Forget this message, ${plural(messages, "time")} in ${plural(sessions, "session")}`,
		forgetSession: (messages: number, sessions: number) =>
			`Forget the whole session: ${plural(messages, "message")}${sessions > 1 ? ` in ${plural(sessions, "session")}` : ""}`,
		forgot: (count: number) => `Forgot ${plural(count, "message")}.`,
		acts: { resume: "Resume its session", fork: "Fork from this message", quote: "Quote it in the editor" },
		keys: {
			resume: "resume",
			import: "import",
			here: "this project",
			all: "all projects",
			complete: "complete",
			read: "read",
			list: "list",
			fork: "fork",
			quote: "quote",
			copy: "copy",
			forget: "forget",
			scroll: "scroll",
			close: "close",
			back: "back",
			choose: "choose",
		},
	},
};

export type Words = typeof en;

const UNITS_ZH = { year: "年", month: "个月", week: "周", day: "天", hour: "小时", minute: "分钟" };

const zh: Words = {
	comma: "、",
	now: "刚刚",
	ago: (count, unit) => `${count}${UNITS_ZH[unit]}前`,
	agoShort: (count, unit) => `${count}${UNITS_ZH[unit]}前`,
	addonMissing: "记忆功能没有启用：它的本机部分在这里加载不了。",
	captureFailed: (why) => `记忆：暂时没有存下来，下次导入会补齐。${why}`,
	storeFailed: (why) => `记忆功能没有启用：${why}`,
	configProblem: (file, problem) => `记忆：${file}：${problem}`,
	config: {
		notJson: (why) => `不是 JSON（${why}）`,
		notObject: "应当是一个对象",
		unknown: (setting, known) => `没有 "${setting}" 这项设置，可用的有：${known}`,
		wrong: (setting, wanted) => `"${setting}" 应为：${wanted}`,
		wanted: {
			language: '"en" 或 "zh"',
			flag: "true 或 false",
			globs: "一组文件夹通配符",
			prefix: "至多 32 个字母、数字、_ 或 -",
		},
	},
	failed: (why) => `记忆：${why}`,
	secondCopy: (here, there) =>
		`记忆：pi-memory-sessions 装了两份，现在用的是 ${there}，${here} 那份不起作用，可以删掉。`,
	toolTaken: (tool, owner, file) =>
		`记忆：${owner} 已经有名为 ${tool} 的工具，模型用的是它的；想让模型也能用我们的，在 ${file} 里设置 "toolPrefix"。`,

	recall: "搜索以前会话里说过的话",
	recallImport: "导入 pi 已有的会话文件",
	recallStats: "看看存了多少",
	recallForget: "永久忘掉一个会话、一条消息、一个项目或一段时间",
	recallCheck: "检查库的状态，坏了就修",
	recallPause: "这个会话从现在起不再保存，再输入一次恢复",
	recallExport: "把一个会话或搜索结果写成 Markdown",

	hits: (hits, sessions) => `${number(sessions)} 个会话里的 ${hits}`,
	messages: (count, more = false) => `${number(count)}${more ? "+" : ""} 条消息`,
	someWords: "没有哪条消息包含所有的词",
	missing: (words) => `哪里都没有：${words}`,
	cutShort: "搜索提前结束：词太常见",
	copies: (count) => `另有 ${number(count)} 个分支会话含有它`,
	moreHits: (count) => `还有 ${number(count)} 条，再加几个词缩小范围`,
	noHit: (query) => `没有找到“${query}”。`,
	noWord: "查询里没有可以搜索的词。",
	searched: (messages, sessions, since) =>
		`搜索了 ${number(sessions)} 个会话的 ${number(messages)} 条消息${since ? `，最早到 ${since}` : ""}。`,
	waiting: (files) => `还有 ${number(files)} 个会话文件没有导入：用 /recall import 导入。`,
	nothingKept: "还没有存下任何消息。",
	latest: "最近的会话",

	importing: (done, all, megabytes, stored, left) =>
		`记忆：正在导入 ${number(done)}/${number(all)} 个文件 · ${megabytes} MB · ${number(stored)} 条消息${left === undefined ? "" : ` · 还要 ${left < 90 ? `${left} 秒` : `${Math.round(left / 60)} 分钟`}`}`,
	imported: (stored, sessions, files, seconds) =>
		`从 ${number(sessions)} 个会话新导入 ${number(stored)} 条消息（${number(files)} 个文件，${seconds} 秒）。`,
	importEsc: "按 esc 取消",
	importCancelled: "已取消，已经导入的会保留；再次 /recall import 会接着来。",
	duplicates: (count) => `${number(count)} 条早已存下。`,
	skipped: (count) => `略过 ${number(count)} 处：`,
	andMore: (count) => `……还有 ${number(count)} 个`,
	moreIn: (count, file) => `……还有 ${number(count)} 处，全部列在 ${file}`,
	unknownTypes: (types) => `还不认识的条目类型：${types}`,
	noFiles: (folders) => `没有找到会话文件。找过：${folders}`,

	stats: {
		row: (name, value) => `${name}：${value}`,
		store: "存储",
		size: "大小",
		messages: "消息",
		sessions: "会话",
		projects: "项目",
		oldest: "最早",
		newest: "最新",
		weeks: "每周",
		busiest: "消息最多的项目",
		noFolder: "（没有文件夹）",
	},
	share: (files, all) =>
		files === all
			? `pi 的会话文件：${number(all)} 个都已导入`
			: `pi 的会话文件：已导入 ${percent(files, all)}（${number(all)} 个中的 ${number(files)} 个），用 /recall import 导入其余`,

	forgetUsage:
		"说明要忘掉什么：/recall forget session:会话、message:消息号、project:项目、since:日期、until:日期；写了几个就要同时满足。",
	nothingToForget: "库里没有符合的消息，什么也没忘。",
	forgetQuestion: (what) => `${what}将被永久忘掉。`,
	forgetAgain: (command) => `确定的话：${command}`,
	notForgotten: "什么也没忘。",
	forgotten: (what) => `忘掉了 ${what}，以后导入也不会回来。`,
	forgetStillIn: "这些文件里还有原文，或可能有：",

	healthy: "库是完好的。",
	damaged: "库有损坏；/recall check repair 修复能修的部分。",
	repaired: (what) => `已修复：${what}`,

	paused: "已暂停：从现在起说的话不再保存，再输入 /recall pause 恢复。",
	resumed: "已恢复：从现在起说的话会保存，暂停期间的不会补回来。",
	pausedStatus: "记忆已暂停",
	notKept: "这个会话没有文件，本来就不保存。",

	exportUsage: "说明要导出什么：/recall export 会话，或要搜索的词。",
	exported: (file) => `已写入：${file}`,
	screen: {
		title: "回忆",
		placeholder: "搜索说过的话；可用 project: since: until: role: session: 缩小范围",
		roles: { user: "我", assistant: "pi", tool_error: "错误", summary: "摘要" },
		thisProject: "当前项目",
		allProjects: "所有项目",
		untitled: "（没有文字）",
		beginning: (word) => `以 ${word} 开头的词`,
		matches: (count) => `${count} 处`,
		alike: (count) => `另有 ${number(count)} 条相似`,
		wrongRole: (value) => `role:${value}？可用 user、assistant、tool_error、summary。`,
		wrongDate: (value) => `${value}？日期写作 2026-10-01、2026-10、7d 或 昨天。`,
		noSession: "没有符合的会话。",
		searchAll: (key) => `只搜索了当前项目，按 ${key} 搜索所有项目。`,
		offerImport: (files, key) => `还有 ${number(files)} 个会话文件没有导入：按 ${key} 导入。`,
		moreCharacters: (count) => `……还有 ${count} 个字符`,
		truncated: "……存下时已截断",
		copied: "已复制。",
		noEntry: "不知道这条消息在 pi 文件里的位置；按回车可回到那个会话。",
		fileGone: "pi 的会话文件已经不在了，说过的话还在这里。",
		otherSession: (file) => `${file} 现在是别的会话，没有打开。`,
		entryGone: "pi 的文件里已经没有这条消息；按回车可回到那个会话。",
		forked: "新会话到此为止",
		alreadyHere: "你就在这个会话里。",
		busyTitle: "pi 正在回答",
		busy: "离开会话会中断回答，要离开吗？",
		saidHere: "在这个会话里说的",
		startNew: "带着这段摘录新开一个会话",
		keepReading: "在这里阅读",
		backToList: "回到列表",
		searchAgain: "搜索别的……",
		forgetTitle: "永久忘掉？以后导入也不会回来。",
		keepIt: "保留",
		forgetMessage: (messages, sessions) =>
			messages === 1 ? "忘掉这条消息" : `忘掉这条消息（${number(sessions)} 个会话里共 ${number(messages)} 条）`,
		forgetSession: (messages, sessions) =>
			`忘掉整个会话：${number(messages)} 条消息${sessions > 1 ? `（涉及 ${number(sessions)} 个会话）` : ""}`,
		forgot: (count) => `忘掉了 ${number(count)} 条消息。`,
		acts: { resume: "回到那个会话", fork: "从这条消息分出新会话", quote: "引用到编辑器" },
		keys: {
			resume: "回到会话",
			import: "导入",
			here: "当前项目",
			all: "所有项目",
			complete: "补全",
			read: "阅读",
			list: "列表",
			fork: "分支",
			quote: "引用",
			copy: "复制",
			forget: "忘掉",
			scroll: "翻页",
			close: "关闭",
			back: "返回",
			choose: "选择",
		},
	},
};

/** A count with thousands separated, the same in both languages. Intl takes tens of milliseconds to load. */
export function number(count: number): string {
	return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** A share in whole percent; what is not whole is less than 100, and what is something more than 0. */
function percent(part: number, whole: number): string {
	return `${Math.min(part < whole ? 99 : 100, Math.max(part > 0 ? 1 : 0, Math.round((100 * part) / whole)))} %`;
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
