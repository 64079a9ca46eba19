// oh-my-pi on Bun: installed, used, its own sessions imported, and removed again.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { call, extension, say } from "../host/pi.mjs";
import { assertBearsSecondCopy, assertWorks, builtFor, Host, omp, registryFor, repositoryFor } from "./host.mjs";
import { serveModel } from "./model.mjs";

/** oh-my-pi keeps its things in `.omp`, and takes its model from a server. */
class Omp extends Host {
	static async for(t, env) {
		const host = new Omp(t, { cli: omp.cli, node: omp.bun }, env);
		host.model = await serveModel(t);
		host.agent = join(host.dir, ".omp/agent");
		mkdirSync(host.agent, { recursive: true });
		delete host.env.PI_CODING_AGENT_DIR;
		const models = [{ id: "fake-1", name: "fake", contextWindow: 100_000, maxTokens: 4_000 }];
		const fake = { baseUrl: host.model.url, apiKey: "none", api: "openai-completions", models };
		writeFileSync(join(host.agent, "models.yml"), JSON.stringify({ providers: { fake } }));
		return host;
	}

	start(args, { steps = [], env = {} } = {}) {
		this.model.steps = steps;
		const [command, ...first] = this.command;
		const child = spawn(command, [...first, "--model", "fake/fake-1", ...args], {
			cwd: this.project,
			env: { ...this.env, ...env },
			stdio: ["pipe", "pipe", "pipe"],
		});
		return child;
	}

	toolText(tool) {
		const messages = this.model.shown.flat();
		const calls = messages.flatMap((message) => message.tool_calls ?? []).filter((one) => one.function.name === tool);
		return (
			messages.findLast((message) => message.role === "tool" && message.tool_call_id === calls.at(-1)?.id)?.content ??
			""
		);
	}
}

test("oh-my-pi: from a path", async (t) => {
	const folder = builtFor(t);
	const host = await Omp.for(t);
	await host.run("install", folder);
	await assertWorks(host);
	await assertRemoves(host);
});

test("oh-my-pi: from a registry", async (t) => {
	const registry = await registryFor(t);
	const host = await Omp.for(t, { npm_config_registry: registry.url, BUN_CONFIG_REGISTRY: registry.url });
	await host.run("install", "pi-memory-sessions");
	await assertWorks(host);
	await assertRemoves(host);
});

test("oh-my-pi: from git", async (t) => {
	const registry = await registryFor(t);
	const { url, env } = repositoryFor(t);
	const host = await Omp.for(t, { npm_config_registry: registry.url, BUN_CONFIG_REGISTRY: registry.url, ...env });
	await host.run("install", `git+${url}`);
	await assertWorks(host);
	await assertRemoves(host);
});

test("oh-my-pi: two copies", async (t) => {
	const host = await Omp.for(t);
	const start = host.start.bind(host);
	const both = [builtFor(t), builtFor(t)].flatMap((folder) => ["-e", folder]);
	host.start = (args, options) => start([...both, ...args], options);
	await assertBearsSecondCopy(host);
});

for (const order of ["before", "after"]) {
	test(`oh-my-pi: another extension has session_search, loaded ${order} ours`, async (t) => {
		const host = await Omp.for(t);
		const start = host.start.bind(host);
		const sources = [extension("owner"), builtFor(t)];
		const both = (order === "before" ? sources : sources.reverse()).flatMap((source) => ["-e", source]);
		host.start = (args, options) => start([...both, ...args], options);
		const { err } = await host.say("hello", call("session_search", { query: "hello" }), say("done"));
		assert.equal(err.match(/already has a tool session_search/g)?.length, 1, err);
		assert.equal(host.toolText("session_search"), "theirs");
		assert.equal(host.rows()[0].text, "hello");
	});
}

async function assertRemoves(host) {
	await host.run("plugin", "uninstall", "pi-memory-sessions");
	const before = host.rows().length;
	await host.say("nobody keeps this", say("ok"));
	assert.equal(host.rows().length, before);
}
