// Loads the addon: the file PI_MEMORY_ADDON names, or the one built beside this file, else the platform's package.

const { existsSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const target = require("./target.js");

/** Where the addon may be. By absolute path: a compiled host resolves bare names inside itself. */
function candidates() {
	if (process.env.PI_MEMORY_ADDON) return [resolve(process.env.PI_MEMORY_ADDON)];
	const file = `pi-memory-sessions.${target}.node`;
	const packages = folders(__dirname).map((folder) => join(folder, "node_modules", `pi-memory-sessions-${target}`));
	return [join(__dirname, file), join(packages.find(existsSync) ?? packages[0], file)];
}

/** A folder and all that it lies in. */
function folders(folder) {
	const parent = dirname(folder);
	return parent === folder ? [folder] : [folder, ...folders(parent)];
}

function load() {
	const tried = [];
	for (const file of candidates()) {
		try {
			if (existsSync(file)) return require(file);
			tried.push(`  ${file}: not there`);
		} catch (error) {
			tried.push(`  ${file}: ${error.message}`);
		}
	}
	const error = new Error(
		[
			`pi-memory-sessions found no addon that loads on ${target} (Node ${process.versions.node}). Tried:`,
			...tried,
			`Either install the platform's package: npm install pi-memory-sessions-${target}`,
			`or, with Rust installed, build it in ${__dirname}: npm run build`,
			...(process.env.PI_MEMORY_ADDON ? ["Nothing but PI_MEMORY_ADDON is tried while it is set: unset it then."] : []),
		].join("\n"),
	);
	error.code = "ADDON_MISSING";
	throw error;
}

exports.MemoryStore = load().MemoryStore;
