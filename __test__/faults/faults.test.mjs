// The short form of the fault suite: nothing that was kept is lost, whatever happens meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { play, SHORT, scenarios } from "./suite.mjs";

for (const [name, scenario] of Object.entries(scenarios(SHORT, 1))) {
	test(`nothing is lost: ${name}`, async (t) => {
		const { tried, wrong, note } = await play(scenario);
		if (tried === 0) t.skip(note);
		assert.deepEqual(wrong, []);
	});
}
