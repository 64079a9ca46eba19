// How the model's searches look to the person, in the real pi.

import assert from "node:assert/strict";
import { test } from "node:test";
import { writePast } from "./past.mjs";
import { homeWith, KEYS, Terminal } from "./terminal.mjs";

test("a search is one line while folded, with its hits when unfolded", async (t) => {
	const { home } = await homeWith(t, writePast);
	const steps = [[{ call: ["session_search", { query: "hash ring" }] }], [{ text: "found it" }]];
	const pi = await Terminal.open(home, { cols: 100, rows: 30, env: { PI_TEST_STEPS: JSON.stringify(steps) } });
	await pi.command("where do keys go?");
	await pi.until(/session_search "hash ring" · \d+ messages? in 1 session · [\d.]+ ms[\s\S]*found it/);
	assert.doesNotMatch(pi.screen(), /msg_id=/);
	await pi.send(KEYS.ctrl("o"));
	await pi.until(/msg_id=\d+[\s\S]*consistent 【hash/);
});
