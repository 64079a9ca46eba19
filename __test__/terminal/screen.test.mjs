// The screen of /recall in the real pi, as text, at three sizes: what is listed, found and read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { writePast, writeSession } from "./past.mjs";
import { homeWith, KEYS, SIZES, Terminal } from "./terminal.mjs";

for (const [cols, rows] of SIZES) {
	const at = `at ${cols}x${rows}`;

	test(`opening, typing, narrowing and finding nothing ${at}`, async (t) => {
		const { home } = await homeWith(t, writePast);
		const pi = await Terminal.open(home, { cols, rows });
		await pi.recall();
		await pi.shows("latest");
		await pi.type("gigabyte cache");
		await pi.shows("english");
		await pi.send(KEYS.ctrl("u"));
		await pi.type("缓存分片方案");
		await pi.shows("chinese");
		await pi.send(KEYS.ctrl("u"));
		await pi.type("otters");
		await pi.shows("nothing");
		await pi.send(KEYS.ctrl("u"));
		await pi.type("qzh");
		await pi.shows("pinyin");
		await pi.send(KEYS.ctrl("u"));
		await pi.type("gigabyte role:us");
		await pi.shows("completing");
		await pi.send(KEYS.tab);
		await pi.shows("filtered");
	});

	test(`a thousand hits are walked through ${at}`, async (t) => {
		const { home } = await homeWith(t, (home) => {
			const says = Array.from({ length: 1000 }, (_, n) => ["user", `otter number ${n} of many`]);
			writeSession(home, { id: "0199c0de-many-7000-8000-000000000004", name: "Otters", says });
			return {};
		});
		const pi = await Terminal.open(home, { cols, rows });
		await pi.recall("otter");
		for (let n = 0; n < 120; n++) pi.pty.write(KEYS.down);
		const screen = await pi.until(/→ you otter number/);
		// Equal hits rank as they rank: what holds is that one of them is chosen and that nothing runs over.
		assert.equal(screen.split("→").length - 1, 1);
		assert.match(screen, /1,000 messages/);
		assert.deepEqual(pi.wrapped(), [], "lines ran over");
	});

	test(`a hostile message is shown and not obeyed ${at}`, async (t) => {
		const { home } = await homeWith(t, (home) => {
			const text =
				"otter \u001b[31mred \u001b]0;title\u0007 \u001b[2J\u001b[H bell\u0007 \u009b5n \u202eright to left\u202c \u001bc\r\n| a | b |\n";
			writeSession(home, {
				id: "0199c0de-evil-7000-8000-000000000005",
				name: "\u001b[2Jevil\u0007",
				says: [["user", text]],
			});
			return {};
		});
		const pi = await Terminal.open(home, { cols, rows });
		const before = pi.raw.length;
		await pi.recall("otter");
		await pi.shows("hostile");
		await pi.send(KEYS.ctrl("o"));
		await pi.shows("hostile-read");
		const painted = pi.raw.slice(before);
		// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
		assert.doesNotMatch(painted, /\u001b\]0;title|\u001bc|\u009b|\u001b\[31mred|\u202e/);
	});
}

test("a filter alone lists what meets it, the latest first", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home);
	await pi.recall();
	await pi.type("role:user project:project");
	await pi.until(/4 messages in 2 sessions/);
	assert.match(pi.screen(), /→ you café[\s\S]*you 把缓存分片[\s\S]*you And what[\s\S]*you How should/);
	await pi.send(KEYS.ctrl("u"));
	await pi.type("role:error");
	await pi.until(/→ error ✗ bash: port 8080/);
	await pi.send(KEYS.ctrl("u"));
	await pi.type("until:15d");
	await pi.until(/→ .*Cache sharding/);
	assert.doesNotMatch(pi.screen(), /签证材料/);
	await pi.send(KEYS.ctrl("u"));
	await pi.type("since:today");
	await pi.until(/No session fits\./);
});

test("a role alone lists the messages of a long session to its beginning", async (t) => {
	const id = "0199c0de-long-7000-8000-000000000008";
	const { home } = await homeWith(t, (home) => {
		const others = Array.from({ length: 1_200 }, (_, n) => ["user", `otter number ${n}`]);
		writeSession(home, { id, says: [["error", "no otter there"], ...others] });
		return {};
	});
	const pi = await Terminal.open(home);
	await pi.recall("role:error");
	await pi.until(/1 message in 1 session[\s\S]*→ error ✗ bash: no otter there/);
	await pi.send(KEYS.ctrl("u"));
	await pi.type(`role:error session:${id}`);
	await pi.until(/1 message in 1 session[\s\S]*→ error ✗ bash: no otter there/);
});

test("a query without a word is told so", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home);
	await pi.recall("?! since:30d");
	await pi.until(/The query has no word to search for\./);
});

test("a word finds while it is typed, and is taken as it is when a space ends it", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home);
	await pi.recall("cache gigab");
	await pi.until(/words that begin with gigab[\s\S]*→ you How should/);
	await pi.type(" ");
	await pi.until(/nothing has: gigab/);
});

test("session: is completed by name, and the id says which it is", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home);
	await pi.recall();
	await pi.type("shard session:签");
	await pi.until(/tab 签证材料/);
	await pi.send(KEYS.ctrl("u"));
	await pi.type("hash session:cach");
	await pi.until(/tab Cache sharding/);
	await pi.send(KEYS.tab);
	await pi.until(/› hash session:0199c0de-cache-7000-8000-000000000001 *\n[\s\S]*→ pi .*hash/);
});

test("hits of a session that say nearly the same are one line, which counts them", async (t) => {
	const { home } = await homeWith(t, (home) => {
		const call = 'edit({"path":"src/otter.ts","oldText":"one","newText":"two"})';
		const says = Array.from({ length: 7 }, () => ["assistant", call]);
		writeSession(home, { id: "0199c0de-edit-7000-8000-000000000006", says: [["user", "mend the otter"], ...says] });
		return {};
	});
	const pi = await Terminal.open(home);
	await pi.recall("otter");
	await pi.until(/edit\(.* \+6 alike/);
	assert.equal(pi.screen().match(/ pi .*edit\(/g).length, 1);
	assert.match(pi.screen(), /8 messages in 1 session/);
});

test("what a tool was called with and what it said are read as they are, not as Markdown", async (t) => {
	const call = `→ bash({"command":"grep -n '_a_' *.ts *.js \\"\`b\`\\""})`;
	const says = [
		["assistant", `A **bold** otter:\n${call}\nand *more*`],
		["error", "otter *not* found\n# no heading"],
		["user", "! ls *otter* _x_"],
	];
	const { home } = await homeWith(t, (home) => {
		writeSession(home, { id: "0199c0de-call-7000-8000-000000000009", says });
		return {};
	});
	const pi = await Terminal.open(home);
	await pi.recall("otter bold");
	await pi.until(/→ pi/);
	await pi.send(KEYS.ctrl("o"));
	const screen = (await pi.until(/ A bold otter:/)).replaceAll("\u00a0", " ");
	for (const line of [call, ...says.slice(1).flatMap(([, text]) => text.split("\n"))]) {
		assert.ok(screen.includes(line), `${line} is not in\n${screen}`);
	}
});

test("a resize repaints without rubbish, and the query and the selection stay", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home, { cols: 80, rows: 24 });
	await pi.recall("分片");
	await pi.send(KEYS.down);
	const selected = /→ .*/.exec(pi.screen())[0].slice(0, 10);
	for (const [cols, rows] of [
		[200, 60],
		[60, 16],
		[80, 24],
	]) {
		await pi.resize(cols, rows);
		assert.deepEqual(pi.wrapped(), []);
		assert.match(pi.screen(), /› 分片/);
		assert.equal(/→ .*/.exec(pi.screen())[0].slice(0, 10), selected);
	}
});

test("the input method's window stands at the cursor", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home);
	await pi.recall("签证");
	const { cursorX, cursorY } = pi.emulator.buffer.active;
	assert.deepEqual([cursorX, pi.screen().split("\n")[cursorY].trimEnd()], [6, "› 签证"]);
});

test("the interface is Chinese where the locale is", async (t) => {
	const { home } = await homeWith(t, writePast);
	const pi = await Terminal.open(home, { env: { LANG: "zh_CN.UTF-8" } });
	await pi.recall("签证");
	await pi.shows("in-chinese");
});

test("a light theme is as readable", async (t) => {
	const { home } = await homeWith(t, writePast, { theme: "light" });
	const pi = await Terminal.open(home);
	await pi.recall("shard");
	await pi.shows("light");
});

test("fullscreen mode shows the same", async (t) => {
	const { home } = await homeWith(t, writePast, { tuiMode: "fullscreen" });
	const pi = await Terminal.open(home);
	await pi.recall("shard");
	assert.match(pi.screen(), /^── recall ─+\n› shard/);
});
