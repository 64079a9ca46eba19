// npm run platform -- linux-x64-gnu: builds a platform's addon and packs it into dist/.
// Linux is built with zig, which brings each C library; where cargo has no zigbuild, Python's package of it is brought.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { libraryOf } from "./addon.mjs";
import { packPlatform } from "./pack.mjs";
import { fail, root, run } from "./setup.mjs";
import { fileOf, GLIBC, TARGETS } from "./targets.mjs";

/** What an installation may have to fetch. */
const MOST_BYTES = 3 * 1024 * 1024;

const [name] = process.argv.slice(2);
const target = TARGETS[name];
if (!target) fail(`no such target: ${name}; there are ${Object.keys(TARGETS).join(", ")}`);

// Without rustup there is one target, and cargo says when it is not this one.
if (spawnSync("rustup", ["--version"]).status === 0) run("rustup", ["target", "add", target.rust]);
const linux = target.os === "linux";
const triple = target.libc === "glibc" ? `${target.rust}.${GLIBC}` : target.rust;
const env = { ...process.env };
if (linux) env.PATH = [...zigbuild(), env.PATH].join(delimiter);
// Node brings musl itself: the addon must not have one of its own.
if (target.libc === "musl") env.RUSTFLAGS = `${env.RUSTFLAGS ?? ""} -C target-feature=-crt-static`.trim();
run("cargo", [linux ? "zigbuild" : "build", "--release", "--lib", "--target", triple], { env });

const folder = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), target.rust, "release");
const addon = join(folder, libraryOf(target.os));
if (target.libc === "glibc") {
	const wanted = newestGlibc(addon);
	console.log(`needs glibc ${wanted}`);
	if (newer(wanted, GLIBC)) fail(`${addon} needs glibc ${wanted}, newer than ${GLIBC}`);
}
const bytes = statSync(addon).size;
const dist = join(root, "dist");
const made = packPlatform(name, addon, dist);
copyFileSync(addon, join(dist, fileOf(name)));
console.log(`${made.tarball}: ${made.size} bytes, ${bytes} unpacked`);
if (made.size > MOST_BYTES) fail(`the package is larger than ${MOST_BYTES} bytes`);

/** Where cargo-zigbuild is, when it is not on the path already. */
function zigbuild() {
	if (spawnSync("cargo-zigbuild", ["--version"]).status === 0) return [];
	const venv = join(root, "target/zigbuild");
	const bin = join(venv, "bin");
	if (!existsSync(join(bin, "cargo-zigbuild"))) {
		run("python3", ["-m", "venv", venv]);
		run(join(bin, "pip"), ["install", "--quiet", "ziglang", "cargo-zigbuild"]);
	}
	return [bin];
}

/** The newest version of the C library that a symbol of the file asks for: each is named in its string table. */
function newestGlibc(file) {
	const named = readFileSync(file, "latin1").match(/GLIBC_\d+(\.\d+)+/g) ?? [];
	const versions = named.map((text) => text.slice("GLIBC_".length));
	return versions.reduce((newest, version) => (newer(version, newest) ? version : newest), "0");
}

function newer(a, b) {
	return a.localeCompare(b, "en", { numeric: true }) > 0;
}
