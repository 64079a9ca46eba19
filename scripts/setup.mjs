// What every script needs first: the development packages, and a Node new enough for pi.

import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The Node that pi needs at least, and the one fetched where the system's is older. */
const NEEDED = [22, 19];
const FETCHED = "22.23.5";

/** Runs a command in the project with its output shown; ends the script when it fails. */
export function run(command, args, options = {}) {
	const shell = process.platform === "win32" && command === "npm";
	const result = spawnSync(command, args, { cwd: root, stdio: "inherit", shell, ...options });
	if (result.error) fail(`${command}: ${result.error.message}`);
	if (result.status !== 0) fail(`${command} ${args.join(" ")} failed`, result.status ?? 1);
	return result;
}

/** Says why and ends the script. */
export function fail(message, code = 1) {
	console.error(message);
	process.exit(code);
}

/** Installs the development packages when they are missing or older than the lock file. */
export function installPackages() {
	const installed = join(root, "node_modules/.package-lock.json");
	const lock = join(root, "package-lock.json");
	if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
	// pi's own packages warn about an older Node; the one they run on is fetched below.
	run("npm", ["ci", "--ignore-scripts", "--loglevel=error"]);
}

/** The path of a Node that pi runs on: this one, else one brought from npm into `.runtime/`. */
export function nodeForPi() {
	if (isEnough(process.versions.node)) return process.execPath;
	const windows = process.platform === "win32";
	const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
	const home = join(root, ".runtime");
	const node = join(home, "node_modules", name, "bin", windows ? "node.exe" : "node");
	if (!existsSync(node)) {
		console.log(`pi needs Node ${NEEDED.join(".")} or newer; bringing ${FETCHED} into .runtime/`);
		run("npm", [
			"install",
			"--prefix",
			home,
			"--no-save",
			"--no-package-lock",
			"--loglevel=error",
			`${name}@${FETCHED}`,
		]);
	}
	return node;
}

/** Starts the script anew on a Node that pi runs on, and ends this run of it, where this Node is none. */
export function continueOnNodeForPi(script) {
	const node = nodeForPi();
	if (node === process.execPath) return;
	const { status } = spawnSync(node, [fileURLToPath(script), ...process.argv.slice(2)], { stdio: "inherit" });
	process.exit(status ?? 1);
}

function isEnough(version) {
	const [major, minor] = version.split(".").map(Number);
	return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}
