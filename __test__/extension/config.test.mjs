// Settings and language.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../extension/config.ts";
import { languageOf, wordsOf } from "../../extension/words.ts";

function configOf(t, text) {
	const folder = mkdtempSync(join(tmpdir(), "pi-memory-config-"));
	t.after(() => rmSync(folder, { recursive: true }));
	const file = join(folder, "config.json");
	if (text !== undefined) writeFileSync(file, text);
	const { config, problems } = readConfig(file);
	return {
		config,
		problems: problems.map((problem) => problem(wordsOf("en"))),
		inChinese: problems.map((problem) => problem(wordsOf("zh"))),
	};
}

test("no file means the defaults and no problem", (t) => {
	const { config, problems } = configOf(t);
	assert.deepEqual(problems, []);
	assert.deepEqual([config.searchAllProjects, config.excludeFolders, config.toolPrefix], [true, [], ""]);
});

test("right settings are taken, wrong ones named and left at their default", (t) => {
	const { config, problems, inChinese } = configOf(t, '{"toolPrefix": "my_", "language": "fr", "colour": 1}');
	assert.equal(config.toolPrefix, "my_");
	assert.equal(config.language, undefined);
	assert.match(problems.join("\n"), /^"language" wants "en" or "zh"\n"colour" is no setting; known: language, /);
	assert.match(inChinese.join("\n"), /^"language" 应为："en" 或 "zh"\n没有 "colour" 这项设置，可用的有：language、/);
});

test("names that every object has are no settings", (t) => {
	const { problems } = configOf(t, '{"constructor": 1, "toString": 1, "__proto__": 1}');
	assert.equal(problems.length, 3);
	for (const problem of problems) assert.match(problem, /is no setting/);
});

test("extensions' messages are kept only when asked for, by true and nothing else", (t) => {
	assert.equal(configOf(t).config.keepExtensionMessages, false);
	assert.equal(configOf(t, '{"keepExtensionMessages": true}').config.keepExtensionMessages, true);
	const { config, problems } = configOf(t, '{"keepExtensionMessages": "yes"}');
	assert.equal(config.keepExtensionMessages, false);
	assert.match(problems.join(), /"keepExtensionMessages" wants true or false/);
});

test("a file that is no JSON, or no object, is named", (t) => {
	assert.match(configOf(t, "{").problems[0], /no JSON/);
	assert.match(configOf(t, "[]").problems[0], /wants an object/);
});

test("the first of LC_ALL, LC_MESSAGES and LANG that is set decides the language", () => {
	assert.equal(languageOf({ LC_ALL: "zh_CN.UTF-8", LANG: "en_US.UTF-8" }), "zh");
	assert.equal(languageOf({ LC_ALL: "", LC_MESSAGES: "en_US", LANG: "zh_TW" }), "en");
	assert.equal(languageOf({ LANG: "zh" }), "zh");
	assert.equal(languageOf({}), "en");
});
