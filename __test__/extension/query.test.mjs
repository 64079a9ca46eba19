// The query line: what is searched for, and what narrows it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { complete, momentOf, parseQuery } from "../../extension/recall/query.ts";
import { wordsOf } from "../../extension/words.ts";

const parse = (line) => parseQuery(line, wordsOf("en"));

test("filters are taken out of the line, quoted text and unknown names stay words", () => {
	assert.deepEqual(parse('cache project:"my api" role：我 "role:user stays" src:a.ts'), {
		words: 'cache "role:user stays" src:a.ts',
		project: "my api",
		role: "user",
		problems: [],
	});
	assert.deepEqual(parse("cache since: role:").words, "cache", "a filter just begun narrows nothing");
});

test("a filter that is not understood is named and left out", () => {
	const { words, role, since, problems } = parse("cache role:nobody since:2026-02-30");
	assert.deepEqual([words, role, since], ["cache", undefined, undefined]);
	assert.match(problems.join("\n"), /^role:nobody\? .*\n2026-02-30\? /);
	assert.equal(parse("role:constructor").problems.length, 1, "what every object has is no role");
});

test("a role is taken by the name that the screen gives it", () => {
	for (const language of ["en", "zh"]) {
		for (const [role, label] of Object.entries(wordsOf(language).screen.roles)) {
			assert.equal(parse(`role:${label}`).role, role, label);
		}
	}
});

test("dates are days of the calendar, also where the clocks change; months and years stand for their ends", (t) => {
	const { TZ } = process.env;
	t.after(() => {
		if (TZ === undefined) delete process.env.TZ;
		else process.env.TZ = TZ;
	});
	process.env.TZ = "America/New_York";
	const now = new Date(2026, 2, 9, 0, 30);
	const first = (value) => momentOf(value, false, now);
	assert.deepEqual(["today", "昨天", "7d", "2周", "2026-03-05", "2026-02", "2026"].map(first), [
		"2026-03-09",
		"2026-03-08",
		"2026-03-02",
		"2026-02-23",
		"2026-03-05",
		"2026-02-01",
		"2026-01-01",
	]);
	assert.deepEqual(
		["2026-02", "2026"].map((value) => momentOf(value, true, now)),
		["2026-02-28", "2026-12-31"],
	);
	assert.deepEqual(["soon", "2026-13", "2026-02-30", "7x", ""].map(first), Array(5).fill(undefined));
});

test("a completion takes the place of the last piece alone", () => {
	assert.equal(complete("cache pro", { insert: "project:" }), "cache project:");
	assert.equal(complete('cache project:"my a', { insert: 'project:"my api" ' }), 'cache project:"my api" ');
});
