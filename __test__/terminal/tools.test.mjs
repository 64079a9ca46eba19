// How the model's searches look to the person, in the real pi.

import assert from "node:assert/strict";
import { test } from "node:test";
import { writePast } from "./past.mjs";
import { homeWith, KEYS, Terminal } from "./terminal.mjs";

test("a search and a reading are one line each while folded, with what the model was shown when unfolded", async (t) => {
	const { home } = await homeWith(t, writePast);
	const steps = [
		[{ call: ["session_search", { query: "hash ring" }] }],
		[{ call: ["session_read", { session_id: "$session", around_msg_id: "$msg_id" }] }],
		[{ text: "found it" }],
	];
	const pi = await Terminal.open(home, { cols: 100, rows: 60, env: { PI_TEST_STEPS: JSON.stringify(steps) } });
	await pi.command("where do keys go?");
	await pi.until(/session_search "hash ring" · \d+ messages? in 1 session · [\d.]+ ms/);
	await pi.until(/session_read \S+ #\d+ · 6 messages · Cache sharding[\s\S]*found it/);
	assert.doesNotMatch(pi.screen(), /msg_id=/);
	await pi.send(KEYS.ctrl("o"));
	await pi.until(/msg_id=\d+[\s\S]*consistent 【hash/);
});
