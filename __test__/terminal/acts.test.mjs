// What each key of /recall does in the real pi, and where it ends.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { spoil } from "../faults/steps.mjs";
import { Home } from "../host/pi.mjs";
import { writePast, writeSession } from "./past.mjs";
import { homeWith, KEYS, Terminal } from "./terminal.mjs";

const { ctrl } = KEYS;

/** pi with the past in its store, /recall open on these words. */
async function recalling(t, words, options) {
	const past = await homeWith(t, writePast);
	const pi = await Terminal.open(past.home, options);
	await pi.recall(words);
	await pi.until(/→ /);
	return { pi, ...past };
}

/** The entries of a session file. */
const entriesOf = (file) => readFileSync(file, "utf8").trim().split("\n").map(JSON.parse);
const textOf = ({ message }) => (typeof message.content === "string" ? message.content : message.content[0].text);

test("Enter resumes the session it was said in, and shows the passage above the editor until the next message", async (t) => {
	const { pi, cache } = await recalling(t, "hash ring");
	await pi.send(KEYS.enter);
	await pi.until(/said in this session[\s\S]*hash ring/);
	assert.match(pi.screen(), /Port 8080 is taken/, "the session is open at its end");
	await pi.send("and now?");
	await pi.send(KEYS.enter);
	await pi.until(/and now\?[\s\S]*ok/);
	assert.doesNotMatch(pi.screen(), /said in this session/);
	assert.equal(textOf(entriesOf(cache).at(-2)), "and now?");
});

test("the file of a session that is resumed is not kept open", {
	skip: process.platform !== "linux" && "open files are read from /proc",
}, async (t) => {
	const { pi, home, cache } = await recalling(t, "hash ring");
	await pi.send(KEYS.enter);
	await pi.until(/said in this session/);
	const open = readdirSync(`/proc/${pi.pty.pid}/fd`).map((fd) => {
		try {
			return readlinkSync(`/proc/${pi.pty.pid}/fd/${fd}`);
		} catch {
			return "closed meanwhile";
		}
	});
	assert.ok(open.includes(home.db), "the store is open");
	assert.ok(!open.includes(cache));
});

test("Enter on a session of another folder goes there as pi does", async (t) => {
	const { pi, visa } = await recalling(t, "护照");
	await pi.send(KEYS.enter);
	await pi.until(/said in this session/);
	assert.match(pi.screen(), /~\/申请/, "the footer names the other folder");
	await pi.send("还有别的吗？", KEYS.enter);
	await pi.until(/还有别的吗[\s\S]*ok/);
	assert.equal(textOf(entriesOf(visa).at(-2)), "还有别的吗？");
});

test("a session whose folder is gone is resumed as pi asks", async (t) => {
	const past = await homeWith(t, writePast);
	renameSync(`${past.home.dir}/申请`, `${past.home.dir}/moved`);
	const pi = await Terminal.open(past.home);
	await pi.recall("护照");
	await pi.until(/→ /);
	await pi.send(KEYS.enter);
	await pi.until(/no longer exists|does not exist|not found|Continue/i);
	await pi.send(KEYS.escape);
	await pi.until(/Resume cancelled/);
});

test("the fork's last message is the chosen one", async (t) => {
	const { pi, home } = await recalling(t, "hash ring");
	await pi.send(ctrl("n"));
	await pi.until(/this new session ends here/);
	const fork = home.files().find((file) => entriesOf(file)[0].parentSession);
	const last = entriesOf(fork).findLast(({ type }) => type === "message");
	assert.match(textOf(last), /consistent hash ring/);
});

test("a quotation with its origin goes into the editor, after what is there", async (t) => {
	const { pi } = await recalling(t, "hash ring");
	await pi.send(ctrl("t"));
	await pi.until(/> Nothing moves: a \*consistent hash ring\*/);
	assert.match(pi.screen(), /> — pi, \d{4}-\d{2}-\d{2} \d{2}:\d{2}, project, “Cache sharding”/);
});

test("a copy goes to the clipboard, here the terminal's own", async (t) => {
	const { pi } = await recalling(t, "hash ring", { env: { PI_CLIPBOARD_OSC52: "1" } });
	await pi.send(ctrl("x"));
	await pi.until(/Copied\./);
	const [, copied = ""] = pi.raw.match(/\]52;c;([\w+/=]+)/) ?? [];
	assert.match(Buffer.from(copied, "base64").toString(), /^Nothing moves: a \*consistent hash ring\*/);
});

test("Esc closes and gives the editor back", async (t) => {
	const { pi } = await recalling(t, "hash ring");
	await pi.send(KEYS.escape);
	await pi.send("typed after");
	await pi.until(/typed after/);
	assert.doesNotMatch(pi.screen(), /resume {2}tab/);
});

test("Tab switches between this project and all", async (t) => {
	const { pi } = await recalling(t, "签证");
	await pi.send(KEYS.tab);
	await pi.until(/Nothing found for “签证”[\s\S]*Only this project was searched/);
	await pi.send(KEYS.tab);
	await pi.until(/→ you 签证/);
});

test("the reading view scrolls to the session's beginning and end, and takes the whole screen", async (t) => {
	const { pi } = await recalling(t, "Nothing moves");
	for (let n = 0; n < 5; n++) await pi.send(KEYS.pageUp);
	await pi.until(/─\n. you · .*\n How should we shard the cache/);
	for (let n = 0; n < 9; n++) await pi.send(KEYS.pageDown);
	await pi.until(/listens on 8081/);
	await pi.send(ctrl("o"));
	await pi.until(/\^o list/);
	assert.doesNotMatch(pi.screen(), /→/);
	await pi.send(KEYS.escape);
	await pi.until(/→ /);
});

test("forgetting shows what will go, asks, and then it is gone", async (t) => {
	const { pi, home } = await recalling(t, "hash ring");
	await pi.send(ctrl("d"));
	await pi.until(
		/Forget for good\?[\s\S]*Keep it[\s\S]*Forget this message · .*hash ring.*\n.*whole session: 6 messages · Cache sharding/,
	);
	assert.match(pi.screen(), /these files still hold the text, or may:\s+~\/.*\s+\S+\.jsonl/);
	await pi.send(KEYS.enter);
	assert.equal(home.rows().length, 14, "the first choice keeps it");
	await pi.send(ctrl("d"));
	await pi.until(/Forget this message/);
	await pi.send(KEYS.down, KEYS.enter);
	await pi.until(/Forgot 1 message\./);
	assert.equal(home.rows().filter(({ text }) => /hash ring/.test(text)).length, 0);
	await pi.send(KEYS.escape);
	await pi.recall("");
	await pi.until(/→ /);
	await pi.send(ctrl("d"));
	await pi.until(/whole session: 4 messages/);
	await pi.send("2");
	await pi.until(/Forgot 4 messages\./);
	assert.equal(home.rows().length, 9);
});

test("when pi's file is gone, what was said is read here and taken into a new session", async (t) => {
	const past = await homeWith(t, writePast);
	renameSync(past.cache, `${past.cache}.gone`);
	const pi = await Terminal.open(past.home);
	await pi.recall("hash ring");
	await pi.until(/→ /);
	await pi.send(KEYS.enter);
	await pi.until(/file of this session is gone[\s\S]*Start a new session[\s\S]*Nothing moves/);
	await pi.send(KEYS.enter);
	await pi.until(/> Nothing moves/);
	assert.doesNotMatch(pi.screen(), /→ 1/);
});

test("a file that holds another session now, or an entry no more, is not opened", async (t) => {
	const past = await homeWith(t, writePast);
	const lines = readFileSync(past.cache, "utf8").split("\n");
	writeFileSync(past.cache, [lines[0].replace("cache", "other"), ...lines.slice(1)].join("\n"));
	writeFileSync(past.notes, `${readFileSync(past.notes, "utf8").split("\n")[0]}\n`);
	const pi = await Terminal.open(past.home);
	await pi.recall("hash ring");
	await pi.until(/→ /);
	await pi.send(KEYS.enter);
	await pi.until(/holds\s+another\s+session\s+now/);
	await pi.recall("写好了");
	await pi.until(/→ /);
	await pi.send(ctrl("n"));
	await pi.until(/does\s+not\s+hold\s+this\s+message/);
});

test("a store that does not open is told on the screen, which closes as always", async (t) => {
	const home = Home.for(t);
	writeFileSync(join(home.dir, "plain"), "");
	const pi = await Terminal.open(home, { env: { PI_MEMORY_DB: join(home.dir, "plain", "sessions.db") } });
	await pi.recall("project:x otters");
	await pi.until(/memory is off: [\s\S]*PI_MEMORY_DB/);
	await pi.type(" more");
	await pi.until(/› project:x otters more/);
	await pi.send(KEYS.escape);
	await pi.command("and pi goes on");
	await pi.until(/and pi goes on[\s\S]*ok/);
});

test("what another pi forgets while it is read here is read no further, and pi goes on", async (t) => {
	const id = "0199c0de-gone-7000-8000-000000000007";
	const { home } = await homeWith(t, (home) => {
		writeSession(home, { id, says: Array.from({ length: 60 }, (_, n) => ["user", `otter number ${n}`]) });
		return {};
	});
	const pi = await Terminal.open(home);
	await pi.recall("otter");
	await pi.until(/▶ you/);
	const { out } = await home.print(`/recall forget session:${id} yes`);
	assert.match(out, /Forgotten: 60 messages/);
	for (let n = 0; n < 9; n++) await pi.send(KEYS.pageDown);
	assert.match(pi.screen(), /→ you/, "the screen stands");
	await pi.send(KEYS.down);
	await pi.until(/memory: message \d+ is not one of session/);
	await pi.send(KEYS.enter);
	await pi.until(/said in this session/);
});

test("pi's own keybindings are followed", async (t) => {
	const past = await homeWith(t, writePast);
	writeFileSync(`${past.home.agent}/keybindings.json`, JSON.stringify({ "app.session.fork": "ctrl+g" }));
	const pi = await Terminal.open(past.home);
	await pi.recall("hash ring");
	await pi.until(/\^g fork/);
	await pi.send(ctrl("g"));
	await pi.until(/this new session ends here/);
});

test("an empty store offers the import, with how many sessions wait, and takes it", async (t) => {
	const home = Home.for(t);
	writePast(home);
	const pi = await Terminal.open(home);
	await pi.recall("");
	await pi.until(/3 session files of pi's are waiting: enter imports them/);
	await pi.send(KEYS.enter);
	await pi.until(/14 new messages from 3 sessions/);
});

/** pi with so much to import that there is time to cancel it. */
async function withMuchToImport(t, files = 500) {
	const home = Home.for(t);
	const words = "words that take their time to be cut and kept ".repeat(20);
	for (let file = 0; file < files; file++) {
		const says = Array.from({ length: 50 }, (_, n) => ["user", `${file} ${n} ${words}`]);
		writeSession(home, { id: `0199c0de-${String(file).padStart(4, "0")}-7000-8000-000000000000`, says });
	}
	return Terminal.open(home, { cols: 120 });
}

test("an import shows how far it is, and Esc cancels it", async (t) => {
	const pi = await withMuchToImport(t);
	await pi.command("/recall import");
	await pi.until(/importing \d+\/500 files · [\d.]+ MB · [\d,]+ messages · \d+ s left · esc cancels/);
	await pi.send(KEYS.escape);
	await pi.until(/Cancelled; what is in stays in/);
	assert.doesNotMatch(pi.screen(), /importing/);
	await pi.command("/recall stats");
	await pi.until(/pi's session files: \d+ % in \([\d,]+ of 500\)/);
});

test("a second command cancels an import, and pi answers meanwhile", async (t) => {
	const pi = await withMuchToImport(t, 2_000);
	await pi.command("/recall import");
	await pi.until(/importing \d+\/2,000 files/);
	await pi.command("hello meanwhile");
	await pi.until(/hello meanwhile[\s\S]*ok[\s\S]*importing/);
	await pi.command("/recall import");
	await pi.until(/Cancelled; what is in stays in/);
	assert.doesNotMatch(pi.screen(), /importing/);
});

test("/recall stats draws weeks and projects", async (t) => {
	const { pi } = await recalling(t, "");
	await pi.send(KEYS.escape);
	await pi.command("/recall stats");
	await pi.until(/messages: 14[\s\S]*by week: .*[▁-█][\s\S]*█+ +\d+ project[\s\S]*session files: all 3 in/);
});

test("/recall pause says so in the footer until it is given again, and nothing in between is kept", async (t) => {
	const { pi, home } = await recalling(t, "");
	await pi.send(KEYS.escape);
	await pi.command("/recall pause");
	await pi.until(/Paused: nothing said[\s\S]*memory paused/);
	await pi.command("a secret otter");
	await pi.until(/a secret otter[\s\S]*ok/);
	await pi.command("/recall pause");
	await pi.until(/Going on/);
	assert.doesNotMatch(pi.screen(), /memory paused/);
	await pi.command("a plain otter");
	await pi.until(/a plain otter[\s\S]*ok/);
	await home.print("/recall import");
	const said = home.rows().map(({ text }) => text);
	assert.deepEqual(
		said.filter((text) => /otter/.test(text)),
		["a plain otter"],
	);
});

test("/recall check says that the store is sound", async (t) => {
	const { pi } = await recalling(t, "");
	await pi.send(KEYS.escape);
	await pi.command("/recall check");
	await pi.until(/The store is sound\./);
});

test("/recall check asks before it repairs a damaged store, and then it is sound", async (t) => {
	const { pi, home } = await recalling(t, "");
	await pi.send(KEYS.escape);
	spoil(home.db);
	await pi.command("/recall check");
	await pi.until(/The store is damaged[\s\S]*Yes/);
	await pi.send(KEYS.enter);
	await pi.until(/The store is sound\.[\s\S]*repaired: /);
	await pi.command("/recall check");
	await pi.until(/^(?![\s\S]*repaired)[\s\S]*The store is sound\./);
	await pi.command("/recall import");
	await pi.until(/new messages? from|were in already/);
	assert.equal(home.rows().length, 14);
});

test("/recall export writes what a search finds into the folder pi is in, for its owner alone", async (t) => {
	const { pi, home } = await recalling(t, "");
	await pi.send(KEYS.escape);
	await pi.command("/recall export 护照");
	await pi.until(/Written: ~\/project\/recall-/);
	const [file] = readdirSync(home.project).filter((name) => name.startsWith("recall-"));
	assert.match(readFileSync(join(home.project, file), "utf8"), /^# 签证材料\n[\s\S]*护照、照片和在职证明/);
	assert.equal(statSync(join(home.project, file)).mode & 0o777, 0o600);
});

test("/recall forget asks before it forgets, and names the files that keep the text", async (t) => {
	const { pi, home } = await recalling(t, "");
	await pi.send(KEYS.escape);
	await pi.command("/recall forget project:申请");
	await pi.until(/4 messages in 1 session would be forgotten for good/);
	await pi.send(KEYS.escape);
	await pi.until(/Nothing was forgotten/);
	assert.equal(home.rows().length, 14);
	await pi.command("/recall forget project:申请");
	await pi.until(/would be forgotten for good[\s\S]*Yes/);
	await pi.send(KEYS.enter);
	await pi.until(/Forgotten: 4 messages[\s\S]*still hold the text/);
	assert.equal(home.rows().length, 10);
});
