// npm run hosts: brings every host that the memory must work in, and proves it in each.
// npm run hosts -- omp: those tests only whose name holds the word.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildForTests } from "./addon.mjs";
import { installPackages, nodeForPi, root, run } from "./setup.mjs";

const home = join(root, ".runtime/hosts");
const windows = process.platform === "win32";
const platform = `${windows ? "windows" : process.platform}-${process.arch}`;
const nodePackage = `node-${windows ? "win" : process.platform}-${process.arch}`;

const NODES = { 22.19: "22.19.0", 24.22: "24.22.3" };
const PIS = ["1.3.0", "1.6.0"];
const BUN = "1.4.5";
const OMP = "18.2.3";

installPackages();
const brought = {
	node: Object.fromEntries(
		Object.entries(NODES).map(([name, version]) => {
			const file = windows ? "bin/node.exe" : "bin/node";
			return [name, bring(`node-${name}`, nodePackage, version, file)];
		}),
	),
	pi: Object.fromEntries(
		PIS.map((version) => [
			version,
			bring(`pi-${version}`, "@earendil-works/pi-coding-agent", version, "dist/bundle/cli.js"),
		]),
	),
	omp: {
		bun: bring("bun", `@oven/bun-${platform}`, BUN, windows ? "bin/bun.exe" : "bin/bun"),
		cli: bring("omp", "@oh-my-pi/pi-coding-agent", OMP, "dist/cli.js"),
	},
};

const tests = join(root, "__test__/hosts");
const files = readdirSync(tests).filter((file) => file.endsWith(".test.mjs"));
const [only] = process.argv.slice(2);
run(
	nodeForPi(),
	[
		"--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
		"--disable-warning=ExperimentalWarning",
		"--test",
		...(only ? [`--test-name-pattern=${only}`] : []),
		...files.map((file) => join(tests, file)),
	],
	{
		env: {
			...process.env,
			PI_MEMORY_ADDON: process.env.PI_MEMORY_ADDON ?? buildForTests(),
			PI_MEMORY_HOSTS: JSON.stringify(brought),
		},
	},
);

/** A file of a package from the registry, which is installed into a folder of its own at first. */
function bring(folder, name, version, file) {
	const prefix = join(home, folder);
	const path = join(prefix, "node_modules", name, file);
	if (!existsSync(path)) {
		console.log(`bringing ${name} ${version}`);
		const quiet = ["--no-save", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
		run("npm", ["install", "--prefix", prefix, ...quiet, `${name}@${version}`]);
	}
	return path;
}
