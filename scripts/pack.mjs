// npm run pack: the packages as npm gets them, into dist/: the main one, and with a target and an addon its platform's.
// npm run pack -- linux-x64-gnu ADDON.node

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, root } from "./setup.mjs";
import { fileOf, manifestOf, TARGETS } from "./targets.mjs";

/** The main package's manifest; npm's provenance wants to know the repository, which the workflow tells. */
export function manifest() {
	const written = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
	if (!written.repository && server && repository) {
		written.repository = { type: "git", url: `git+${server}/${repository}.git` };
	}
	return written;
}

/** Packs the main package; gives what npm says of the tarball, with its path. */
export function packMain(to) {
	return staged((folder) => {
		for (const { path } of npmPack(root, ["--dry-run"]).files) {
			mkdirSync(dirname(join(folder, path)), { recursive: true });
			cpSync(join(root, path), join(folder, path));
		}
		return packed(folder, manifest(), to);
	});
}

/** Packs a platform's package around its addon. */
export function packPlatform(target, addon, to) {
	return staged((folder) => {
		copyFileSync(addon, join(folder, fileOf(target)));
		copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
		writeFileSync(join(folder, "README.md"), `The addon of pi-memory-sessions for ${target}: install that package.\n`);
		return packed(folder, manifestOf(target, manifest()), to);
	});
}

function packed(folder, contents, to) {
	writeFileSync(join(folder, "package.json"), `${JSON.stringify(contents, null, "\t")}\n`);
	mkdirSync(to, { recursive: true });
	const said = npmPack(folder, ["--pack-destination", to]);
	return { manifest: contents, tarball: join(to, said.filename), size: said.size, files: said.files };
}

function staged(work) {
	const folder = mkdtempSync(join(tmpdir(), "pi-memory-pack-"));
	try {
		return work(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function npmPack(cwd, args) {
	const shell = process.platform === "win32";
	const result = spawnSync("npm", ["pack", "--json", "--ignore-scripts", ...args], { cwd, encoding: "utf8", shell });
	if (result.status !== 0) fail(`npm pack failed in ${cwd}: ${result.stderr ?? result.error?.message}`);
	// A list, or in newer versions an object by name.
	return Object.values(JSON.parse(result.stdout))[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [target, addon] = process.argv.slice(2);
	if (target && !(target in TARGETS && addon)) fail(`npm run pack -- TARGET ADDON; TARGET: ${Object.keys(TARGETS)}`);
	const to = join(root, "dist");
	const made = target ? packPlatform(target, resolve(addon), to) : packMain(to);
	console.log(`${made.tarball}: ${made.size} bytes`);
}
