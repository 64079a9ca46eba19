// pi, each version on each Node: installed in each way, used, and removed again.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { call, extension, say } from "../host/pi.mjs";
import {
	assertBearsSecondCopy,
	assertExplains,
	assertWorks,
	builtFor,
	cloneFor,
	Host,
	hosts,
	newest,
	registryFor,
	repositoryFor,
} from "./host.mjs";

const NPM = "npm:pi-memory-sessions";

async function assertRemoves(host, source) {
	await host.run("remove", source);
	const before = host.rows().length;
	await host.say("nobody keeps this");
	assert.equal(host.rows().length, before);
}

for (const one of hosts) {
	test(`${one.name}: from a registry`, async (t) => {
		const registry = await registryFor(t);
		const host = new Host(t, one, { npm_config_registry: registry.url });
		await host.run("install", NPM);
		await assertWorks(host);
		await assertRemoves(host, NPM);
	});

	test(`${one.name}: from git`, async (t) => {
		const registry = await registryFor(t);
		const { url, env } = repositoryFor(t);
		const host = new Host(t, one, { npm_config_registry: registry.url, ...env });
		await host.run("install", url);
		await assertWorks(host);
		await assertRemoves(host, url);
	});

	test(`${one.name}: from a path`, async (t) => {
		const folder = builtFor(t);
		const host = new Host(t, one);
		await host.run("install", folder);
		await assertWorks(host);
		await assertRemoves(host, folder);
	});
}

// One Node will do: what is seen here is each version's word on names that are there twice.
for (const one of hosts.filter(({ node }) => node === newest.node)) {
	test(`${one.name}: two copies`, async (t) => {
		const host = new Host(t, one);
		await host.run("install", builtFor(t));
		await host.run("install", builtFor(t));
		await assertBearsSecondCopy(host);
	});

	for (const order of ["before", "after"]) {
		test(`${one.name}: another extension has session_search, loaded ${order} ours`, async (t) => {
			const host = new Host(t, one);
			const sources = [extension("owner"), builtFor(t)];
			for (const source of order === "before" ? sources : sources.reverse()) await host.run("install", source);
			const { err } = await host.say("hello", call("session_search", { query: "hello" }), say("done"));
			assert.equal(err.match(/already has a tool session_search/g)?.length, 1, err);
			assert.equal(host.toolText("session_search"), "theirs");
			assert.equal(host.rows()[0].text, "hello");
		});
	}
}

test("without install scripts everything works", async (t) => {
	const registry = await registryFor(t);
	const host = new Host(t, newest, { npm_config_registry: registry.url, npm_config_ignore_scripts: "true" });
	await host.run("install", NPM);
	await assertWorks(host);
});

test("with nobody to ask, an installed memory starts", async (t) => {
	const registry = await registryFor(t);
	const host = new Host(t, newest, { npm_config_registry: registry.url });
	await host.run("install", NPM);
	registry.close();
	await assertWorks(host);
});

test("without optional packages pi starts and says what is missing", async (t) => {
	const registry = await registryFor(t);
	const host = new Host(t, newest, { npm_config_registry: registry.url, npm_config_omit: "optional" });
	await host.run("install", NPM);
	await assertExplains(host);
});

test("on a platform that is not published pi starts and says what is missing", async (t) => {
	const registry = await registryFor(t, { published: false });
	const { url, env } = repositoryFor(t);
	const host = new Host(t, newest, { npm_config_registry: registry.url, ...env });
	await host.run("install", url);
	await assertExplains(host);
});

test("a clone in which nothing was built starts and says what is missing", async (t) => {
	const host = new Host(t, newest);
	await host.run("install", cloneFor(t));
	await assertExplains(host);
});

test("where nothing can be written pi starts and says what is off", async (t) => {
	const host = new Host(t, newest);
	await host.run("install", builtFor(t));
	// A file in the folder's place: not even root can make a folder there.
	writeFileSync(join(host.dir, ".pi/memory"), "");
	const { err } = await host.say("hello");
	assert.match(err, /memory/);
	assert.deepEqual(host.rows(), []);
});

test("in a home that nobody may write to pi starts and says what is off", {
	skip: process.platform === "win32" && "rights are others there",
}, async (t) => {
	const host = new Host(t, newest);
	const folder = builtFor(t);
	await host.run("install", folder);
	// pi itself wants a place for its sessions; root may write anywhere and has to become somebody else.
	const home = join(host.dir, "home");
	mkdirSync(home, { mode: 0o555 });
	const open = (path) => chmodSync(path, 0o777);
	for (const path of [host.dir, host.agent, join(host.agent, "settings.json"), host.project]) open(path);
	for (const path of [join(host.dir, ".pi"), dirname(folder), folder]) chmodSync(path, 0o755);
	Object.assign(host.env, { HOME: home, USERPROFILE: home });
	if (process.getuid() === 0) host.user = 65_534;
	const { out, err } = await host.say("hello");
	assert.match(out, /ok/);
	assert.match(err, /memory is off/);
});

test("without HOME pi starts, and memory has the place it is given", async (t) => {
	// Given, because the system knows a home beside HOME: the one of whoever runs this.
	const host = new Host(t, newest, { HOME: undefined, USERPROFILE: undefined });
	host.env.PI_MEMORY_DB = join(host.dir, "elsewhere/sessions.db");
	await host.run("install", builtFor(t));
	await host.say("hello");
	assert.equal(host.rows(host.env.PI_MEMORY_DB).at(0)?.text, "hello");
});

test("for an account without a home pi starts and says what is off", {
	skip: process.getuid?.() !== 0 && "only root can become somebody else",
}, async (t) => {
	const host = new Host(t, newest, { HOME: undefined, USERPROFILE: undefined });
	const folder = builtFor(t);
	await host.run("install", folder);
	const open = (path) => chmodSync(path, 0o777);
	for (const path of [host.dir, host.agent, join(host.agent, "settings.json"), host.project]) open(path);
	for (const path of [join(host.dir, ".pi"), dirname(folder), folder]) chmodSync(path, 0o755);
	// Nobody: the system knows this account, and a home of it that does not exist.
	host.user = 65_534;
	const { out, err } = await host.say("hello");
	assert.match(out, /ok/);
	assert.match(err, /memory is off/);
});
