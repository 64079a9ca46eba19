// What this machine needs, as the addon's files and packages name it: linux-x64-gnu, darwin-arm64, win32-x64.

const { existsSync, readFileSync } = require("node:fs");

/** Whether the system's C library is musl: its `ldd` says so; a system without `ldd` has musl's loader alone. */
function isMusl() {
	try {
		return readFileSync("/usr/bin/ldd", "latin1").includes("musl");
	} catch {
		return existsSync(`/lib/ld-musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`);
	}
}

const libc = process.platform === "linux" ? (isMusl() ? "-musl" : "-gnu") : "";

module.exports = `${process.platform}-${process.arch}${libc}`;
