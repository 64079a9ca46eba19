// A pi (or omp) of a given version on a given runtime, in a home of its own, with a registry on the loopback.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { packMain, packPlatform } from "../../scripts/pack.mjs";
import { fileOf, manifestOf, packageOf, TARGETS } from "../../scripts/targets.mjs";
import { call, extension, Home, root, say } from "../host/pi.mjs";
import { serve } from "./registry.mjs";

/** This machine's target, and the addon that stands for the published one. */
export const target = createRequire(import.meta.url)("../../target.js");
const addon = process.env.PI_MEMORY_ADDON ?? join(root, fileOf(target));

/** What `scripts/hosts.mjs` has brought: each host's command line, and the runtimes. */
const brought = JSON.parse(process.env.PI_MEMORY_HOSTS ?? "{}");

/** Every pi on every Node. */
export const hosts = Object.entries(brought.pi ?? {}).flatMap(([pi, cli]) =>
	Object.entries(brought.node ?? {}).map(([node, path]) => ({ name: `pi ${pi} on Node ${node}`, cli, node: path })),
);
export const newest = hosts.at(-1);
export const { omp } = brought;

/** A folder that goes when the test ends. */
export function folderFor(t) {
	const folder = mkdtempSync(join(tmpdir(), "pi-memory-host-"));
	t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
	return folder;
}

/** A registry that has the main package, this machine's and word of the others; `published: false` leaves this machine's out. */
export async function registryFor(t, { published = true } = {}) {
	const folder = folderFor(t);
	const here = published ? [packPlatform(target, addon, folder)] : [];
	const main = packMain(folder);
	const others = Object.keys(TARGETS).filter((name) => name !== target);
	const known = others.map((name) => ({ manifest: manifestOf(name, main.manifest) }));
	const registry = await serve([main, ...here, ...known]);
	t.after(registry.close);
	return { ...registry, main };
}

/** The files of the repository in a folder of their own, as a clone has them. */
export function cloneFor(t) {
	const folder = join(folderFor(t), "pi-memory-sessions");
	const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
		cwd: root,
		encoding: "utf8",
	});
	for (const file of listed.stdout.split("\0").filter((name) => name && existsSync(join(root, name)))) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		cpSync(join(root, file), join(folder, file));
	}
	return folder;
}

/** The same with the addon built in it, as after `npm run build`. */
export function builtFor(t) {
	const folder = cloneFor(t);
	copyFileSync(addon, join(folder, fileOf(target)));
	return folder;
}

/** A git repository with those files, and the settings that let git find it under a URL. */
export function repositoryFor(t) {
	const folder = cloneFor(t);
	const git = (...args) => {
		const named = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.hooksPath=/dev/null", ...args];
		const { status, stderr } = spawnSync("git", named, { cwd: folder, encoding: "utf8" });
		assert.equal(status, 0, stderr);
	};
	git("init", "-q");
	git("add", "-A");
	git("commit", "-q", "-m", "as it is");
	const url = "https://git.localhost/me/pi-memory-sessions";
	const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: `url.${folder}.insteadOf`, GIT_CONFIG_VALUE_0: url };
	return { url, env };
}

/** A home in which one host runs, with whatever it has installed. */
export class Host extends Home {
	constructor(t, { cli, node }, env = {}) {
		super(folderFor(t));
		this.command = [node, cli];
		// npm runs on the same Node, and asks nobody outside.
		const path = [dirname(node), process.env.PATH].join(delimiter);
		Object.assign(this.env, { PATH: path, npm_config_update_notifier: "false", ...env });
		delete this.env.PI_MEMORY_ADDON;
	}

	start(args, { steps = [], env = {} } = {}) {
		const [command, ...first] = this.command;
		return spawn(command, [...first, "-e", extension("model"), "--model", "fake/fake-1", ...args], {
			cwd: this.project,
			env: { ...this.env, PI_TEST_STEPS: JSON.stringify(steps), ...env },
			stdio: ["pipe", "pipe", "pipe"],
			...(this.user ? { uid: this.user, gid: this.user } : {}),
		});
	}

	/** Runs one of pi's own commands, such as `install`. */
	async run(...args) {
		const [command, ...first] = this.command;
		const child = spawn(command, [...first, ...args], { cwd: this.project, env: this.env });
		child.stdin.end();
		let said = "";
		for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
		const code = await new Promise((resolve) => child.on("close", resolve));
		assert.equal(code, 0, `${args.join(" ")}: ${said}`);
		return said;
	}

	/** Says something and sees pi end well. */
	async say(prompt, ...steps) {
		const { code, out, err } = await this.print(prompt, { steps });
		assert.equal(code, 0, err);
		return { out, err };
	}
}

/** What an installed memory does: keeps, is searched by the model and the person, and imports. */
export async function assertWorks(host) {
	const { err } = await host.say("我们把缓存分片放在哪里？", say("按 session id 分片，放在 cache-shards 文件夹。"));
	assert.doesNotMatch(err, /memory/, "nothing to complain of");
	const texts = () => host.rows().map((row) => row.text);
	assert.deepEqual(texts(), ["我们把缓存分片放在哪里？", "按 session id 分片，放在 cache-shards 文件夹。"]);

	const search = call("session_search", { query: "缓存 分片" });
	const read = call("session_read", { session_id: "$session", around_msg_id: "$msg_id" });
	await host.say("上次说的分片呢？", search, read, say("在 cache-shards。"));
	assert.match(host.toolText("session_search"), /【缓存】?.*分片/);
	assert.match(host.toolText("session_read"), /cache-shards/);

	const { out } = await host.say("/recall cache-shards");
	assert.match(out, /session id/);

	host.addOldSession();
	await host.say("/recall import");
	assert.ok(texts().includes("an old word: zephyr"), "the old session is in");
	await host.assertEqualsImport();
}

/** With a second copy of the package beside the installed one: the host goes on, one copy works, and it is said once. */
export async function assertBearsSecondCopy(host) {
	const { out, err } = await host.say("two of us", call("session_search", { query: "two" }), say("done"));
	assert.match(out, /done/);
	assert.equal(err.match(/is there twice/g)?.length, 1, err);
	assert.match(host.toolText("session_search"), /messages?/);
	assert.deepEqual(
		host.rows().map((row) => row.text),
		["two of us", "done"],
	);
}

/** A session from before the installation. */
Host.prototype.addOldSession = function addOldSession(sessions = join(this.agent, "sessions")) {
	const folder = join(sessions, "--old--");
	mkdirSync(folder, { recursive: true });
	const timestamp = "2026-01-02T03:04:05.000Z";
	const id = "0197a000-0000-7000-8000-000000000001";
	const content = [{ type: "text", text: "an old word: zephyr" }];
	const message = { role: "user", content, timestamp: Date.parse(timestamp) };
	const lines = [
		{ type: "session", version: 3, id, timestamp, cwd: "/old" },
		{ type: "message", id: "aaaa0001", parentId: null, timestamp, message },
	];
	writeFileSync(join(folder, `2026-01-02_${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};

/** What a memory without its addon does: pi goes on, and says what is missing. */
export async function assertExplains(host) {
	const { out, err } = await host.say("hello", call("session_search", { query: "hello" }), say("done"));
	assert.match(out, /done/);
	assert.match(err, /memory is off/);
	assert.ok(
		host.toolText("session_search").includes(`npm install ${packageOf(target)}`),
		host.toolText("session_search"),
	);
	assert.deepEqual(host.rows(), []);
}
