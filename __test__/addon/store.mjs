// Stores in temporary folders, and the shapes pi gives them.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const { MemoryStore } = createRequire(import.meta.url)(join(root, "index.js"));

/** A folder that goes when the test ends. */
export function folderFor(test) {
	const folder = mkdtempSync(join(tmpdir(), "pi-memory-addon-"));
	test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
	return folder;
}

/** An open store in a folder of its own. */
export function storeFor(test, options = {}) {
	const store = new MemoryStore({ path: join(folderFor(test), "sessions.db"), ...options });
	test.after(() => store.close());
	return store;
}

/** A message as pi's message_end carries it. */
export const user = (text, timestamp = 1_700_000_000_000) => ({
	role: "user",
	content: [{ type: "text", text }],
	timestamp,
});

/** A session as pi's header describes it. */
export const session = (id, more = {}) => ({ id, cwd: "/code/api", startedAt: 1_700_000_000_000, ...more });

/** The texts of a session, in order. */
export const textsOf = (store, id) =>
	store.read(id, { before: 1000, after: 1000 }).messages.map((message) => message.text);
