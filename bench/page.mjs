// What the bench found, as a page in Markdown, as the readmes' tables, as a chart, and held against its bounds.

const WORDS = {
	en: {
		others: {
			"pi-memory-sessions": "**pi-memory-sessions**",
			"seed-design": "1.x: rarest characters, newest 200",
			"fts5-porter": "SQLite FTS5, porter, BM25",
			"fts5-trigram": "SQLite FTS5, trigram, BM25",
		},
		quality: ["", "hit@10", "mrr@10", "search p50 / p95", "store ÷ text", "loaded per second"],
		tantivy: "limit: Tantivy, the same terms, ranking only",
		scan: "ripgrep, one word, the session files",
		messages: (count) => `${grouped(count)} messages`,
		plain: "search p50 / p95 / max",
		filtered: "with a filter",
		quoted: "quoted",
		cold: "first search of a process, median / max",
		whole: "… with the start of Node",
		imported: "import",
		perSecond: (count) => `${grouped(count)} messages/s`,
		size: "store and index ÷ text",
		capture: "storing one message",
		times: "",
		made: (f) => `Measured ${f.date} on ${f.machine}, by \`npm run bench\`.`,
		measures:
			"hit@10: the answer is among the first ten, mrr@10: one over its place, mean of five labelled sets; the ranking's weights were chosen on 400 questions of each, and 5,500 others of the same sets are answered as well. The machine is shared: compare the times in one table with each other, not with those elsewhere.",
	},
	zh: {
		others: {
			"pi-memory-sessions": "**pi-memory-sessions**",
			"seed-design": "1.x：最罕见的字，最新 200 条",
			"fts5-porter": "SQLite FTS5，porter，BM25",
			"fts5-trigram": "SQLite FTS5，trigram，BM25",
		},
		quality: ["", "hit@10", "mrr@10", "搜索 p50 / p95", "库 ÷ 原文", "每秒装入"],
		tantivy: "极限：Tantivy，同样的词项，只排序",
		scan: "ripgrep 在会话文件里找一个词",
		messages: (count) => `${grouped(count)} 条消息`,
		plain: "搜索 p50 / p95 / 最长",
		filtered: "带筛选",
		quoted: "带引号",
		cold: "进程的第一次搜索，中位 / 最长",
		whole: "…… 连同 Node 的启动",
		imported: "导入",
		perSecond: (count) => `每秒 ${grouped(count)} 条`,
		size: "库和索引 ÷ 原文",
		capture: "保存一条消息",
		times: "",
		made: (f) => `${f.date} 用 \`npm run bench\` 在 ${f.machine} 上测得。`,
		measures:
			"hit@10：答案在前十条之内的比例；mrr@10：答案名次的倒数；均为五个标注集的平均。排序的权重是在每个集的 400 个问题上选定的，同样这些集里的另外 5,500 个问题，结果相同。机器是共用的：时间只宜在同一张表里互相比较。",
	},
};

/** The page. */
export function page(figures) {
	const source = {
		shared:
			"Labelled questions with books on top of them; the large store's messages are halves of the books' put together.",
		made: "On made-up words: what only real questions can tell is left out.",
		sessions: "On a person's own session files; questions in their words.",
	}[figures.on];
	const versions = Object.entries(figures.versions).filter(([, version]) => version);
	return [
		"# Benchmarks",
		`\`npm run bench\`, ${figures.date}, on ${figures.machine}; ${figures.minutes.toFixed(0)} minutes.`,
		versions.map(([name, version]) => `${name} ${version}`).join(" · "),
		`${source} Times are of searches one after the other in one process, each question having been asked once before.`,
		figures.quick ? "**Quick: a small store and a test build. Its times mean nothing.**" : "",
		figures.quality.length > 0 ? `## Found, beside others\n\n${qualityTable(figures, "en")}` : "",
		figures.quality.length > 0 ? `### By set: hit@10 / mrr@10\n\n${setsTable(figures)}` : "",
		`## Search, import and size\n\n${storesTable(figures, "en")}`,
		`## Storing one message\n\nFive at once every 50 ms, each in a transaction of its own.\n\n${captureTable(figures, "en")}`,
		figures.verdicts.length > 0 ? `## Held against its bounds\n\n${verdictsTable(figures)}` : "",
	]
		.filter(Boolean)
		.join("\n\n")
		.concat("\n");
}

/** A readme with its tables replaced. */
export function insertTable(readme, figures, language) {
	const [open, close] = ["<!-- bench -->", "<!-- /bench -->"];
	const [from, to] = [readme.indexOf(open), readme.indexOf(close)];
	if (from < 0 || to < from) throw new Error(`no ${open} … ${close} in a readme`);
	const tables = [
		WORDS[language].made(figures),
		figures.quality.length > 0 ? WORDS[language].measures : "",
		figures.quality.length > 0 ? qualityTable(figures, language) : "",
		storesTable(figures, language),
		captureTable(figures, language),
	].filter(Boolean);
	return `${readme.slice(0, from)}${open}\n\n${tables.join("\n\n")}\n\n${readme.slice(to)}`;
}

/** What was promised, and whether it is so. */
export function verdicts({ stores: [small, large], capture, quality }) {
	const list = [];
	const most = (what, figure, bound, unit = "") =>
		Number.isFinite(figure) &&
		list.push({ what, figure: `${short(figure)}${unit}`, bound: `≤ ${bound}${unit}`, kept: figure <= bound });
	const least = (what, figure, bound) =>
		Number.isFinite(figure) &&
		list.push({ what, figure: figure.toFixed(3), bound: `≥ ${bound}`, kept: figure >= bound });
	most("search p50", small.search.all.p50, 2, " ms");
	most("search p95", small.search.all.p95, 5, " ms");
	most("first search of a process", small.cold.first.p50, 50, " ms");
	most("store and index ÷ text", small.imported.size / small.bytes, 1.7);
	most("p95 ÷ Tantivy's, small store", small.search.plain.p95 / small.tantivy?.p95, 8);
	if (large) {
		most("p95 of the large store ÷ the small one's", large.search.all.p95 / small.search.all.p95, 2.5);
		most("longest search, large store", large.search.all.max, 50, " ms");
		most("p95 ÷ Tantivy's, large store", large.search.plain.p95 / large.tantivy?.p95, 1);
	}
	const [ours, theirs] = capture;
	most("storing a message, p50 ÷ 1.x's", ours.p50 / theirs?.p50, 0.8);
	most("storing a message, p99 ÷ 1.x's", ours.p99 / theirs?.p99, 0.2);
	most("storing a message, p99.9 ÷ 1.x's", ours.p999 / theirs?.p999, 0.15);
	const [found, before] = quality;
	if (found) {
		least("messages a second ÷ 1.x's", found.loadPerSecond / before?.loadPerSecond, 2);
		for (const [set, bound] of Object.entries(FLOORS)) least(`hit@10 of ${set}`, found.sets[set]?.hit10, bound);
		least("mean hit@10", found.meanHit10, 0.703);
		least("mean mrr@10", found.meanMrr10, 0.514);
	}
	return list;
}

/** What a prototype found of each set. */
const FLOORS = {
	"cmrc2018-zh-hans": 0.988,
	"devdocs-zh-hans": 0.73,
	"devdocs-ja": 0.652,
	"locomo-en": 0.502,
	"memorybank-zh": 0.643,
	"locomo-en (scoped)": 0.632,
	"memorybank-zh (scoped)": 0.886,
};

function qualityTable({ quality, stores: [small] }, language) {
	const words = WORDS[language];
	const rows = quality.map((one) => [
		words.others[one.name],
		one.meanHit10.toFixed(3),
		one.meanMrr10.toFixed(3),
		`${times(one.p50ms, one.p95ms)}${over(one.p95ms, quality[0].p95ms)}`,
		one.sizeOverText.toFixed(2),
		grouped(one.loadPerSecond),
	]);
	if (small.tantivy) {
		const { p50, p95, bytes, messages, loadMs } = small.tantivy;
		const speed = grouped((messages / loadMs) * 1000);
		rows.push([
			words.tantivy,
			"",
			"",
			`${times(p50, p95)}${over(p95, quality[0].p95ms)}`,
			(bytes / small.bytes).toFixed(2),
			speed,
		]);
	}
	if (small.scan)
		rows.push([
			words.scan,
			"",
			"",
			`${times(small.scan.p50, small.scan.p95)}${over(small.scan.p95, quality[0].p95ms)}`,
			"",
			"",
		]);
	return table(words.quality, rows);
}

function setsTable({ quality }) {
	const names = quality.map(({ name }) => WORDS.en.others[name]);
	const rows = Object.keys(quality[0].sets).map((set) => [
		`${set}, ${quality[0].sets[set].n}`,
		...quality.map(({ sets }) => `${sets[set].hit10.toFixed(3)} / ${sets[set].mrr10.toFixed(3)}`),
	]);
	return table(["", ...names], rows);
}

function storesTable({ stores }, language) {
	const words = WORDS[language];
	const row = (name, of) => {
		const cells = stores.map(of);
		return cells.some(Boolean) ? [[name, ...cells.map((cell) => cell ?? "")]] : [];
	};
	const kind = (name, label) =>
		row(label, ({ search }) => search[name]?.n && times(search[name].p50, search[name].p95, search[name].max));
	return table(
		["", ...stores.map(({ messages }) => words.messages(messages))],
		[
			...kind("plain", words.plain),
			...kind("filtered", words.filtered),
			...kind("quoted", words.quoted),
			...row(words.tantivy, ({ tantivy }) => tantivy && times(tantivy.p50, tantivy.p95, tantivy.max)),
			...row(words.scan, ({ scan }) => scan && times(scan.p50, scan.p95, scan.max)),
			...row(words.cold, ({ cold }) => times(cold.first.p50, cold.first.max)),
			...row(words.whole, ({ cold }) => times(cold.whole.p50, cold.whole.max)),
			...row(words.imported, ({ imported }) => words.perSecond((imported.stored / imported.ms) * 1000)),
			...row(words.size, ({ imported, bytes }) => (imported.size / bytes).toFixed(2)),
		],
	);
}

function captureTable({ capture }, language) {
	const words = WORDS[language];
	const [ours] = capture;
	const rows = capture.map((one) => [
		one === ours ? words.others["pi-memory-sessions"] : "1.x",
		...["p50", "p95", "p99", "p999", "max"].map((at) => `${(one[at] / 1000).toFixed(2)} ms${over(one[at], ours[at])}`),
	]);
	return table([words.capture, "p50", "p95", "p99", "p99.9", "max"], rows);
}

function verdictsTable({ verdicts: list }) {
	return table(
		["", "measured", "bound", ""],
		list.map(({ what, figure, bound, kept }) => [what, figure, bound, kept ? "kept" : "**missed**"]),
	);
}

/** The chart: what is found, how long it takes and how much room it needs, beside others. */
export function chart(figures) {
	const { quality, stores } = figures;
	const [small, large] = stores;
	const name = (one) => WORDS.en.others[one.name].replaceAll("*", "");
	const panels = [];
	if (quality.length > 0) {
		const bars = quality.map((one) => ({ name: name(one), value: one.meanHit10, label: one.meanHit10.toFixed(3) }));
		panels.push({ title: "Found in the first ten: hit@10, mean of the sets (more is better)", bars });
	}
	const searches = (title, store, others) => ({
		title,
		bars: [
			...others,
			store.tantivy && { name: "Tantivy (ranks only)", value: store.tantivy.p95 },
			store.scan && { name: "ripgrep (scan)", value: store.scan.p95 },
		]
			.filter(Boolean)
			.map((bar) => ({ ...bar, label: ms(bar.value) })),
		logarithmic: true,
	});
	const ours = (store) => [{ name: "pi-memory-sessions", value: store.search.plain.p95 }];
	const others = quality.length > 0 ? quality.map((one) => ({ name: name(one), value: one.p95ms })) : ours(small);
	panels.push(
		searches(`95 of 100 searches of ${grouped(small.messages)} messages take at most (logarithmic)`, small, others),
	);
	if (large) panels.push(searches(`… of ${grouped(large.messages)} messages`, large, ours(large)));
	if (quality.length > 0) {
		const bars = quality.map((one) => ({
			name: name(one),
			value: one.sizeOverText,
			label: `${one.sizeOverText.toFixed(2)} ×`,
		}));
		panels.push({ title: "Store and index, times the text (less is better)", bars });
	}
	return drawn(panels, `${figures.date} · ${figures.machine}`);
}

const [WIDTH, LEFT, BAR, ROW] = [760, 270, 380, 22];

function drawn(panels, footer) {
	const parts = [];
	let y = 34;
	for (const { title, bars, logarithmic } of panels) {
		parts.push(text(20, y, title, 'font-weight="600"'));
		y += 12;
		// A tenth of a millisecond is where a logarithmic bar begins.
		const length = (value) => (logarithmic ? Math.log10(Math.max(value, 0.011) / 0.01) : value);
		const longest = Math.max(...bars.map(({ value }) => length(value)));
		for (const { name, value, label } of bars) {
			const width = Math.max(2, (length(value) / longest) * BAR);
			const colour = name === "pi-memory-sessions" ? "#2563eb" : "#a8b3c4";
			parts.push(text(LEFT - 10, y + 15, name, 'text-anchor="end"'));
			parts.push(
				`<rect x="${LEFT}" y="${y + 3}" width="${width.toFixed(1)}" height="${ROW - 6}" rx="2" fill="${colour}"/>`,
			);
			parts.push(text(LEFT + width + 8, y + 15, label));
			y += ROW;
		}
		y += 30;
	}
	parts.push(text(20, y - 4, footer, 'fill="#6b7280" font-size="11"'));
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 12}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2937">`,
		`<rect width="${WIDTH}" height="${y + 12}" rx="8" fill="#ffffff"/>`,
		...parts,
		"</svg>",
		"",
	].join("\n");
}

function text(x, y, content, attributes = "") {
	const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
	return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped}</text>`;
}

function table(head, rows) {
	const line = (cells) => `| ${cells.join(" | ")} |`;
	return [line(head), line(head.map((_, n) => (n === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

/** Times in one unit. */
function times(...values) {
	return `${values.map(number).join(" / ")} ms`;
}

function ms(value) {
	return `${number(value)} ms`;
}

function number(value) {
	return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

/** A ratio to ours, where it is not ours. */
function over(value, ours) {
	return value === ours || !ours ? "" : ` (${short(value / ours)} ×)`;
}

function short(value) {
	return value.toFixed(value < 10 ? 2 : 0);
}

function grouped(count) {
	return Math.round(count).toLocaleString("en");
}
