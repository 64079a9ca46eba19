// Builds the addon with cargo and puts it where it is loaded from.

import { copyFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fail, root, run } from "./setup.mjs";

const target = createRequire(import.meta.url)("../target.js");

const LIBRARY = { darwin: "libpi_memory_sessions.dylib", win32: "pi_memory_sessions.dll" };

/** What cargo makes for a system. */
export const libraryOf = (os) => LIBRARY[os] ?? "libpi_memory_sessions.so";

/** The release addon, beside index.js. */
export function buildRelease() {
	return build(["build", "--release", "--lib"], "release", join(root, `pi-memory-sessions.${target}.node`));
}

/** A quickly built addon for tests; a release addon in place stays as it is. */
export function buildForTests() {
	return build(["build", "--lib"], "debug", join(root, "target/debug/pi-memory-sessions.node"));
}

function build(args, profile, to) {
	const cargo = process.env.CARGO ?? "cargo";
	run(cargo, args);
	const folder = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), profile);
	const made = join(folder, libraryOf(process.platform));
	try {
		// A copy and a rename: a running process keeps the file it has mapped.
		const copy = `${to}.${process.pid}`;
		copyFileSync(made, copy);
		renameSync(copy, to);
	} catch (error) {
		fail(`cannot put the addon in place: ${error.message}`);
	}
	return to;
}
