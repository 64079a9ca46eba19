// npm run demo: the real pi with a scripted model on a temporary home, and what the model and the person see.
// npm run demo -- FOLDER words…: imports that folder of session files instead, and searches them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildRelease } from "./addon.mjs";
import { continueOnNodeForPi, fail, installPackages, root } from "./setup.mjs";

continueOnNodeForPi(import.meta.url);
installPackages();
buildRelease();

const { call, Home, say } = await import("../__test__/host/pi.mjs");
const [folder, ...words] = process.argv.slice(2);
const home = new Home(mkdtempSync(join(tmpdir(), "pi-memory-demo-")));
const { LC_ALL, LC_MESSAGES, LANG } = process.env;
const env = { LC_ALL, LC_MESSAGES, LANG };
try {
	if (folder) await importAndSearch(resolve(process.env.INIT_CWD ?? ".", folder), words.join(" "));
	else await talkAndRemember();
} finally {
	rmSync(home.dir, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`\nTry it yourself: pi -e ${root}   (or pi install ${root}), talk, and type /recall with a word you used.`);

/** Three conversations; then a fourth in which the model looks the earlier ones up. */
async function talkAndRemember() {
	title("Three conversations, each in a pi of its own");
	await talk("How do we shard the cache?", [
		[
			{ text: "Let me see whether the port is free." },
			...call("bash", { command: "echo port 8080 is taken >&2; exit 1" }),
		],
		say("We shard the cache by session id, and keep the index behind the WAL. Port 8080 is taken, so use 8081."),
	]);
	await talk("签证材料要准备哪些？", [say("护照、照片和在职证明；扫描件都放在 docs/visa 文件夹里，下周三之前交。")]);
	await talk("把 cache sharding 的方案写成文档", [
		say("写好了：docs/缓存分片.md，按 session id 分片，索引放在 WAL 之后。"),
	]);

	title("A new session: the model looks it up");
	await talk("上次说的签证材料放在哪里，什么时候交？", [
		call("session_search", { query: "签证 材料" }),
		call("session_read", { session_id: "$session", around_msg_id: "$msg_id" }),
		say("扫描件在 docs/visa 文件夹里，要在下周三之前交。"),
	]);
	for (const tool of ["session_search", "session_read"]) {
		title(`What the model was shown by ${tool}`);
		console.log(home.toolText(tool));
	}
	for (const command of ["/recall cache sharding 分片", "/recall stats"]) await recall(command);
}

async function importAndSearch(from, query) {
	await recall(`/recall import ${from}`);
	await recall(`/recall ${query}`.trim());
	if (!query) return;
	await home.print("look it up", { steps: [call("session_search", { query }), say("found")], env });
	title("What the model was shown by session_search");
	console.log(home.toolText("session_search"));
	await recall("/recall stats");
}

async function talk(prompt, steps) {
	console.log(`\n▸ ${prompt}`);
	const { code, out, err } = await home.print(prompt, { steps, env });
	if (code !== 0) fail(`pi failed: ${err}`);
	console.log(out.trim());
}

async function recall(command) {
	title(`What the person sees: ${command}`);
	const { code, out, err } = await home.print(command, { env });
	if (code !== 0) fail(`pi failed: ${err}`);
	console.log(out.trim());
}

function title(text) {
	console.log(`\n── ${text} ${"─".repeat(Math.max(4, 76 - text.length))}`);
}
