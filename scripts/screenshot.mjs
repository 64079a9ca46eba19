// node scripts/screenshot.mjs: the screens of the readmes, from the real pi in a pseudo-terminal, as SVG under docs/.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildForTests } from "./addon.mjs";
import { continueOnNodeForPi, installPackages, root } from "./setup.mjs";

continueOnNodeForPi(import.meta.url);
installPackages();
process.env.PI_MEMORY_ADDON ??= buildForTests();
const { Terminal, KEYS } = await import("../__test__/terminal/terminal.mjs");
const { writePast } = await import("../__test__/terminal/past.mjs");
const { Home } = await import("../__test__/host/pi.mjs");

/** Cells in pixels. */
const [WIDE, HIGH, SIZE] = [8.4, 18, 14];
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace";
/** The sixteen colours a terminal names. */
const BASIC = (
	"#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 " +
	"#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff"
).split(" ");
const SHOTS = [
	{
		name: "recall",
		cols: 130,
		rows: 30,
		words: "shard cache",
		settings: { theme: "dark" },
		background: "#18181e",
		foreground: "#d4d4d4",
	},
	{
		name: "recall-zh",
		cols: 80,
		rows: 24,
		words: "缓存分片",
		env: { LANG: "zh_CN.UTF-8" },
		settings: { theme: "light" },
		background: "#fbfbfb",
		foreground: "#24292f",
	},
];

mkdirSync(join(root, "docs"), { recursive: true });
for (const shot of SHOTS) {
	const home = new Home(mkdtempSync(join(tmpdir(), "pi-memory-shot-")), shot.settings);
	try {
		writePast(home);
		await home.print("/recall import");
		const terminal = await Terminal.open(home, shot);
		await terminal.recall(shot.words);
		await terminal.until(/→ /);
		await terminal.send(KEYS.down);
		const file = join(root, "docs", `${shot.name}.svg`);
		writeFileSync(file, svg(terminal.emulator, shot));
		await terminal.end();
		console.log(`wrote ${file}`);
	} finally {
		rmSync(home.dir, { recursive: true, force: true, maxRetries: 5 });
	}
}

/** The emulator's screen as an image. */
function svg(emulator, { background, foreground }) {
	const { cols, rows } = emulator;
	const boxes = [];
	const texts = [];
	for (let row = 0; row < rows; row++) {
		for (const run of runsOf(emulator, row, { background, foreground })) {
			const x = (run.from * WIDE).toFixed(1);
			const width = ((run.to - run.from) * WIDE).toFixed(1);
			if (run.back !== background) {
				boxes.push(`<rect x="${x}" y="${row * HIGH}" width="${width}" height="${HIGH}" fill="${run.back}"/>`);
			}
			if (run.text.trim() === "") continue;
			const style = `${run.bold ? ' font-weight="bold"' : ""}${run.italic ? ' font-style="italic"' : ""}`;
			texts.push(
				`<text x="${x}" y="${row * HIGH + 13}" fill="${run.fore}" textLength="${width}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(run.text)}</text>`,
			);
		}
	}
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 ${(cols * WIDE + 24).toFixed(0)} ${rows * HIGH + 24}" font-family="${FONT}" font-size="${SIZE}" xml:space="preserve">`,
		`<rect x="-12" y="-12" width="100%" height="100%" rx="8" fill="${background}"/>`,
		...boxes,
		...texts,
		"</svg>\n",
	].join("\n");
}

/** Cells side by side that look the same; wide characters stand alone, so that each is where it belongs. */
function runsOf(emulator, row, colors) {
	const { active } = emulator.buffer;
	const line = active.getLine(active.baseY + row);
	const runs = [];
	for (let column = 0; line && column < emulator.cols; column++) {
		const cell = line.getCell(column);
		if (!cell || cell.getWidth() === 0) continue;
		let fore = colorOf(cell.getFgColor(), cell.isFgRGB(), cell.isFgDefault(), colors.foreground);
		let back = colorOf(cell.getBgColor(), cell.isBgRGB(), cell.isBgDefault(), colors.background);
		if (cell.isInverse()) [fore, back] = [back, fore];
		const cellLook = { fore, back, bold: cell.isBold() > 0, italic: cell.isItalic() > 0 };
		const last = runs.at(-1);
		const text = cell.getChars() || " ";
		const wide = cell.getWidth() > 1;
		const same = last && !wide && !last.wide && Object.keys(cellLook).every((key) => last[key] === cellLook[key]);
		if (same) {
			last.text += text;
			last.to = column + 1;
		} else runs.push({ ...cellLook, text, wide, from: column, to: column + cell.getWidth() });
	}
	return runs;
}

function colorOf(value, isRgb, isDefault, otherwise) {
	if (isDefault) return otherwise;
	if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
	if (value >= 232) return `#${(8 + (value - 232) * 10).toString(16).padStart(2, "0").repeat(3)}`;
	if (value >= 16) {
		const level = (n) => (n === 0 ? 0 : 55 + n * 40);
		const [r, g, b] = [Math.floor((value - 16) / 36), Math.floor((value - 16) / 6) % 6, (value - 16) % 6].map(level);
		return `#${((r << 16) | (g << 8) | b).toString(16).padStart(6, "0")}`;
	}
	return BASIC[value] ?? otherwise;
}

function escaped(text) {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(" ", "\u00a0");
}
