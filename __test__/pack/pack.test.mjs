// What npm gets: the packages' contents, sizes and versions, and that they work where this repository is not.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packMain } from "../../scripts/pack.mjs";
import { disagreements } from "../../scripts/release.mjs";
import { manifestOf, packageOf, TARGETS } from "../../scripts/targets.mjs";
import { folderFor, registryFor, target } from "../hosts/host.mjs";

const MOST_BYTES = 400_000;

test("the main package holds what runs, what builds it, and the words; nothing else", (t) => {
	const { files, size } = packMain(folderFor(t));
	const paths = files.map(({ path }) => path);
	const rest = paths.filter((path) => !/^(extension\/.+\.ts|src\/.+\.(rs|txt|tsv|bin))$/.test(path));
	const wanted = `.cargo/config.toml CHANGELOG.md Cargo.lock Cargo.toml LICENSE README.md README.zh-CN.md build.rs
		index.d.ts index.js package.json scripts/addon.mjs scripts/build.mjs scripts/setup.mjs target.js`;
	assert.deepEqual(rest.sort(), wanted.split(/\s+/).sort());
	assert.ok(paths.includes("extension/index.ts") && paths.includes("src/lib.rs"));
	assert.ok(size < MOST_BYTES, `${size} bytes packed`);
});

test("nothing runs at installation", () => {
	const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
	const hooks = ["preinstall", "install", "postinstall", "prepare", "prepack", "preprepare", "postprepare"];
	assert.deepEqual(
		hooks.filter((name) => name in scripts),
		[],
	);
});

test("versions and changelog agree, and a tag must agree with them", () => {
	assert.deepEqual(disagreements(), []);
	assert.match(disagreements("v0.0.1").join("\n"), /^tag: v0\.0\.1, not v/m);
});

test("each platform's package is for that platform alone", () => {
	for (const [name, { os, cpu, libc }] of Object.entries(TARGETS)) {
		const manifest = manifestOf(name, { version: "1.2.3", license: "MIT" });
		assert.deepEqual([manifest.os, manifest.cpu, manifest.libc], [[os], [cpu], libc && [libc]]);
		assert.deepEqual(manifest.files, [`pi-memory-sessions.${name}.node`]);
	}
});

test("installed into an empty folder it works by itself", async (t) => {
	const registry = await registryFor(t);
	const folder = folderFor(t);
	writeFileSync(join(folder, "package.json"), "{}");
	const { PI_MEMORY_ADDON: _, ...env } = process.env;
	Object.assign(env, { npm_config_cache: join(folder, "cache"), npm_config_registry: registry.url });
	const install = ["install", "pi-memory-sessions", "--legacy-peer-deps", "--loglevel=error"];
	await run("npm", install, { cwd: folder, env, shell: process.platform === "win32" });

	const script = `
		const { MemoryStore } = require("pi-memory-sessions");
		const store = new MemoryStore({ path: "sessions.db" });
		store.begin({ id: "s", cwd: "/p", startedAt: 1 });
		store.capture("s", { role: "user", content: "缓存索引 over WAL", timestamp: 1 });
		console.log(store.search("索引").hits.length, Object.keys(require.cache).join(" "));`;
	const [hits, ...loaded] = (await run(process.execPath, ["-e", script], { cwd: folder, env })).trim().split(" ");
	assert.equal(hits, "1");
	assert.ok(
		loaded.every((file) => file.includes("pi-memory-host-")),
		loaded.join("\n"),
	);
	assert.ok(
		loaded.some((file) => file.includes(packageOf(target))),
		loaded.join("\n"),
	);
});

async function run(command, args, options) {
	const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
	let out = "";
	let err = "";
	child.stdout.on("data", (data) => (out += data));
	child.stderr.on("data", (data) => (err += data));
	const [code] = await once(child, "close");
	assert.equal(code, 0, `${command}: ${err}`);
	return out;
}
