// The platforms that have a package with a built addon, and how each is built.

/** By the name that target.js gives a machine: Rust's target, and what npm is told. */
export const TARGETS = {
	"darwin-arm64": { rust: "aarch64-apple-darwin", os: "darwin", cpu: "arm64" },
	"darwin-x64": { rust: "x86_64-apple-darwin", os: "darwin", cpu: "x64" },
	"linux-arm64-gnu": { rust: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", libc: "glibc" },
	"linux-arm64-musl": { rust: "aarch64-unknown-linux-musl", os: "linux", cpu: "arm64", libc: "musl" },
	"linux-x64-gnu": { rust: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", libc: "glibc" },
	"linux-x64-musl": { rust: "x86_64-unknown-linux-musl", os: "linux", cpu: "x64", libc: "musl" },
	"win32-arm64": { rust: "aarch64-pc-windows-msvc", os: "win32", cpu: "arm64" },
	"win32-x64": { rust: "x86_64-pc-windows-msvc", os: "win32", cpu: "x64" },
};

/** The oldest C library that the glibc builds run on; Node 22 itself wants 2.28. */
export const GLIBC = "2.17";

/** A platform package's name. */
export const packageOf = (target) => `pi-memory-sessions-${target}`;

/** The addon's file in it. */
export const fileOf = (target) => `pi-memory-sessions.${target}.node`;

/** The manifest of a platform's package: nothing but the addon, for that platform alone. */
export function manifestOf(target, { version, license, repository }) {
	const { os, cpu, libc } = TARGETS[target];
	return {
		name: packageOf(target),
		version,
		description: `The addon of pi-memory-sessions for ${target}`,
		license,
		...(repository ? { repository } : {}),
		os: [os],
		cpu: [cpu],
		...(libc ? { libc: [libc] } : {}),
		main: fileOf(target),
		files: [fileOf(target)],
	};
}
