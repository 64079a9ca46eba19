// A past to look at: sessions in two projects, in Chinese and English, as pi writes them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const DAY = 86_400_000;

/** Writes a session file; `says` are [role, text] pairs. Gives its path. */
export function writeSession(home, { id, cwd = home.project, name, daysAgo = 9, says }) {
	const start = Date.now() - daysAgo * DAY;
	const at = (n) => new Date(start + n * 60_000).toISOString();
	mkdirSync(cwd, { recursive: true });
	const lines = [{ type: "session", version: 3, id, timestamp: at(0), cwd }];
	let parentId = null;
	const add = (entry) => {
		lines.push({ ...entry, id: `${id.slice(0, 4)}${String(lines.length).padStart(4, "0")}`, parentId });
		parentId = lines.at(-1).id;
	};
	if (name) add({ type: "session_info", name, timestamp: at(0) });
	for (const [n, [role, text]] of says.entries()) {
		add({ type: "message", timestamp: at(n + 1), message: message(role, text, start + (n + 1) * 60_000) });
	}
	const folder = join(home.agent, "sessions", `--${cwd.replaceAll("/", "-")}--`);
	mkdirSync(folder, { recursive: true });
	const file = join(folder, `${at(0).replaceAll(/[:.]/g, "-")}_${id}.jsonl`);
	writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	return file;
}

function message(role, text, timestamp) {
	if (role === "user") return { role, content: text, timestamp };
	if (role === "error") {
		const content = [{ type: "text", text }];
		return { role: "toolResult", toolCallId: "c", toolName: "bash", content, isError: true, timestamp };
	}
	const usage = {
		input: 1,
		output: 1,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 2,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const content = [{ type: "text", text }];
	return {
		role: "assistant",
		content,
		api: "fake",
		provider: "fake",
		model: "fake-1",
		usage,
		stopReason: "stop",
		timestamp,
	};
}

/** Three sessions one remembers. */
export function writePast(home) {
	const other = join(home.dir, "申请");
	return {
		cache: writeSession(home, {
			id: "0199c0de-cache-7000-8000-000000000001",
			name: "Cache sharding",
			daysAgo: 21,
			says: [
				["user", "How should we shard the cache? It grows by a gigabyte a week."],
				[
					"assistant",
					"Shard it **by session id**:\n\n1. a hash of the id picks one of 16 shards\n2. each shard is an SQLite file of its own\n\n```ts\nconst shard = hash(session.id) % 16;\n```\n\nThe index stays behind the WAL.",
				],
				["user", "And what happens on resize?"],
				["assistant", "Nothing moves: a *consistent hash ring* keeps every key where it is. 缓存分片的大小不变。"],
				["error", "port 8080 is taken"],
				["assistant", "Port 8080 is taken, so the shard server listens on 8081."],
			],
		}),
		visa: writeSession(home, {
			id: "0199c0de-visa-7000-8000-000000000002",
			cwd: other,
			name: "签证材料",
			daysAgo: 9,
			says: [
				["user", "签证材料要准备哪些？"],
				["assistant", "护照、照片和在职证明 📎；扫描件都放在 `docs/visa` 文件夹里，下周三之前交。"],
				["user", "照片要什么底色？"],
				["assistant", "白底，35×45 毫米，最近六个月内拍的。👨‍👩‍👧 家属同样要求。"],
			],
		}),
		notes: writeSession(home, {
			id: "0199c0de-note-7000-8000-000000000003",
			daysAgo: 2,
			says: [
				["user", "把缓存分片的方案写成文档"],
				["assistant", "写好了：docs/缓存分片.md，按 session id 分片，索引放在 WAL 之后。"],
				["user", "café ☕ naïve e\u0301tude — does the wörd count work?"],
				["assistant", "Yes: combining marks and double-width 字符 are counted by columns."],
			],
		}),
	};
}
