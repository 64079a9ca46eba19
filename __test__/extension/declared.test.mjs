// index.d.ts declares the addon's methods, each and no other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const { MemoryStore } = createRequire(import.meta.url)("../../index.js");

test("what index.d.ts declares is what the addon has", () => {
	const declared = readFileSync(new URL("../../index.d.ts", import.meta.url), "utf8");
	const body = declared.slice(declared.indexOf("export class MemoryStore"));
	const methods = [...body.matchAll(/^\t(\w+)\(/gm)].map(([, name]) => name);
	assert.deepEqual(methods.sort(), Object.getOwnPropertyNames(MemoryStore.prototype).sort());
});
