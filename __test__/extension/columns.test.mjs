// Columns are what pi's own measure says, for every character and for characters side by side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { cellsOf, columnsOf, fit } from "../../extension/recall/columns.ts";

const MIXED = [
	"plain words that are longer than the line",
	"缓存分片 and 한국어 カタカナ ｆｕｌｌ",
	"\u001b[1mbold\u001b[22m and \u001b[38;2;1;2;3mcoloured 签证\u001b[39m",
	"café e\u0301tude 👨‍👩‍👧 ☕ ✗ ไทย क्षि",
	"",
];

test("every character takes the columns that pi says, alone and beside others", () => {
	for (let code = 0x20; code < 0xd800; code++) {
		const char = String.fromCharCode(code);
		for (const text of [char, `a${char}`, `${char}中`, `${char}${char}`]) {
			assert.equal(columnsOf(text), visibleWidth(text), `U+${code.toString(16)} in ${JSON.stringify(text)}`);
		}
	}
});

test("a line is exactly as wide as asked, whatever it holds", () => {
	for (const line of MIXED) {
		for (let width = 0; width < 50; width++) assert.equal(visibleWidth(fit(line, width)), width, `${width}: ${line}`);
	}
});

test("a line that fits stays whole, and one that is cut says so", () => {
	assert.equal(fit("abc", 5), "abc  ");
	assert.equal(fit("缓存", 4), "缓存");
	assert.match(fit("abcdef", 5), /^abc.*\.\./);
	assert.match(fit("缓存分片", 5), /^缓.*\.\..* $/);
});

test("cells cover the whole text and take its columns", () => {
	for (const line of MIXED.filter((text) => !text.includes("\u001b"))) {
		const { at, columns } = cellsOf(line);
		assert.equal(at.at(-1), line.length);
		assert.equal(
			columns.reduce((sum, own) => sum + own, 0),
			visibleWidth(line),
		);
	}
});
