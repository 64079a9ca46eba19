// What a release needs, each runnable by hand.
//   node scripts/release.mjs version 2.0.1   sets the version everywhere
//   node scripts/release.mjs check [v2.0.1]  whether all versions, the changelog and the tag agree
//   node scripts/release.mjs publish         publishes what is in dist/, the platforms first

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, root, run } from "./setup.mjs";
import { manifestOf, packageOf, TARGETS } from "./targets.mjs";

const at = (name) => join(root, name);
const json = (name) => JSON.parse(readFileSync(at(name), "utf8"));

/** What does not agree with package.json's version; with a tag, whether this may be released as that. */
export function disagreements(tag) {
	const { version, optionalDependencies = {} } = json("package.json");
	const lock = json("package-lock.json");
	const problems = [];
	const expect = (what, found, wanted = version) => {
		if (found !== wanted) problems.push(`${what}: ${found}, not ${wanted}`);
	};
	expect("Cargo.toml", readFileSync(at("Cargo.toml"), "utf8").match(/^version = "(.+)"$/m)?.[1]);
	expect(
		"Cargo.lock",
		readFileSync(at("Cargo.lock"), "utf8").match(/name = "pi-memory-sessions"\nversion = "(.+)"/)?.[1],
	);
	expect("package-lock.json", lock.version);
	for (const name of Object.keys(TARGETS).map(packageOf)) {
		expect(`package.json, ${name}`, optionalDependencies[name]);
		expect(`package-lock.json, ${name}`, lock.packages[`node_modules/${name}`]?.version);
	}
	const [, newest, when] = readFileSync(at("CHANGELOG.md"), "utf8").match(/^## (\S+)(?: \((.+)\))?$/m) ?? [];
	expect("CHANGELOG.md", newest);
	if (tag !== undefined) {
		expect("tag", tag, `v${version}`);
		if (!/^\d{4}-\d\d-\d\d$/.test(when ?? "")) problems.push(`CHANGELOG.md: ${newest} has no date but "${when}"`);
	}
	return problems;
}

/** Sets the version in every file that has it. */
function setVersion(version) {
	const dependencies = Object.fromEntries(Object.keys(TARGETS).map((target) => [packageOf(target), version]));
	const main = { ...json("package.json"), version, optionalDependencies: dependencies };
	writeFileSync(at("package.json"), `${JSON.stringify(main, null, "\t")}\n`);

	// By hand: npm would look the packages up, and they are not published before this version is.
	const lock = json("package-lock.json");
	lock.version = version;
	Object.assign(lock.packages[""], { version, optionalDependencies: dependencies });
	for (const target of Object.keys(TARGETS)) {
		const { os, cpu, libc, license } = manifestOf(target, main);
		const entry = { version, cpu, ...(libc ? { libc } : {}), license, optional: true, os };
		lock.packages[`node_modules/${packageOf(target)}`] = entry;
	}
	const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en"));
	lock.packages = Object.fromEntries(sorted);
	writeFileSync(at("package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);

	replace("Cargo.toml", /^version = ".+"$/m, `version = "${version}"`);
	replace("Cargo.lock", /(name = "pi-memory-sessions"\nversion = ").+(")/, `$1${version}$2`);
}

function replace(name, pattern, by) {
	writeFileSync(at(name), readFileSync(at(name), "utf8").replace(pattern, by));
}

/** The platforms first, so that nobody gets a main package whose platforms are not there. */
function publish() {
	const tarballs = existsSync(at("dist")) ? readdirSync(at("dist")).filter((name) => name.endsWith(".tgz")) : [];
	const { version } = json("package.json");
	const wanted = [...Object.keys(TARGETS).map(packageOf), "pi-memory-sessions"].map((name) => `${name}-${version}.tgz`);
	const missing = wanted.filter((name) => !tarballs.includes(name));
	if (missing.length > 0) fail(`not in dist/: ${missing.join(", ")}`);
	for (const name of wanted) run("npm", ["publish", at(`dist/${name}`), "--provenance", "--access", "public"]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [command, argument] = process.argv.slice(2);
	if (command === "version" && argument) setVersion(argument);
	else if (command === "check") {
		const problems = disagreements(argument);
		if (problems.length > 0) fail(problems.join("\n"));
		console.log("versions, changelog and tag agree");
	} else if (command === "publish") publish();
	else fail("node scripts/release.mjs version VERSION | check [TAG] | publish");
}
