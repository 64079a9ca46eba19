// What pi says is kept: every way a message can come about, driven in the real pi.

import assert from "node:assert/strict";
import { test } from "node:test";
import { call, Home, say } from "./pi.mjs";

const roles = (rows) => rows.map((row) => row.role);
const texts = (rows) => rows.map((row) => row.text);

test("a conversation is kept message by message: no thinking, no successful output, the failing tool's error", async (t) => {
	const home = Home.for(t);
	const first = [
		{ thinking: "secret musing" },
		{ text: "I will look" },
		{ call: ["bash", { command: "echo fine" }] },
		{ call: ["bash", { command: "echo broken; exit 3" }] },
	];
	const run = await home.print("检查一下 the build", { steps: [first, say("One of them failed.")] });
	assert.equal(run.code, 0, run.err);

	const rows = home.rows();
	assert.deepEqual(roles(rows), ["user", "assistant", "tool_error", "assistant"]);
	assert.equal(rows[0].text, "检查一下 the build");
	assert.match(rows[1].text, /^I will look\n+→ bash\(\{"command":"echo fine"\}\)\n+→ bash\(/);
	assert.match(rows[2].text, /^✗ bash: broken/);
	assert.equal(rows[3].text, "One of them failed.");
	assert.doesNotMatch(texts(rows).join(), /musing/);
	await home.assertEqualsImport();
});

test("a killed pi loses nothing that ended, and the next start mends the rest", async (t) => {
	const home = Home.for(t);
	const run = await home.print("remember 灯塔", { steps: [say("lighthouse noted")], extensions: ["kill"] });
	assert.equal(run.signal, "SIGKILL");
	assert.deepEqual(texts(home.rows()), ["remember 灯塔", "lighthouse noted"]);

	await home.print("go on", { args: ["-c"], steps: [say("yes")] });
	assert.deepEqual(texts(home.rows()).sort(), ["go on", "lighthouse noted", "remember 灯塔", "yes"]);
});

test("--no-session keeps nothing", async (t) => {
	const home = Home.for(t);
	const run = await home.print("off the record", { args: ["--no-session"] });
	assert.equal(run.code, 0, run.err);
	assert.deepEqual(home.rows(), []);
});

test("a resumed session is not kept twice", async (t) => {
	const home = Home.for(t);
	await home.print("first", { steps: [say("one")] });
	await home.print("second", { args: ["-c"], steps: [say("two")] });
	assert.deepEqual(texts(home.rows()), ["first", "one", "second", "two"]);
	assert.equal(home.files().length, 1);
	await home.assertEqualsImport();
});

test("a session begun without memory is taken in when it is resumed", async (t) => {
	const home = Home.for(t);
	await home.print("early words", { steps: [say("heard")], memory: false });
	assert.deepEqual(home.rows(), []);
	await home.print("late words", { args: ["-c"] });
	assert.deepEqual(texts(home.rows()), ["early words", "heard", "late words", "ok"]);
	await home.assertEqualsImport();
});

test("a !command is kept, a failing one with its output, also as the session's last entry", async (t) => {
	const home = Home.for(t);
	const pi = home.rpc();
	await pi.prompt("hello");
	await pi.send({ type: "bash", command: "echo quiet" });
	await pi.send({ type: "bash", command: "echo loud; exit 7" });
	await pi.end();
	const [, , quiet, loud] = home.rows();
	assert.deepEqual([quiet.role, quiet.text], ["user", "! echo quiet"]);
	assert.match(loud.text, /^! echo loud; exit 7\n[\s\S]*7[\s\S]*loud/);
	await home.assertEqualsImport();
});

test("the compaction summary is kept", async (t) => {
	const home = Home.for(t, { compaction: { keepRecentTokens: 5, reserveTokens: 10 } });
	const pi = home.rpc({ steps: [say("a long answer"), say("another answer"), say("SUMMARY: we chose 分片")] });
	await pi.prompt("what shall we choose");
	await pi.prompt("and then");
	await pi.send({ type: "compact" });
	await pi.end();
	const summaries = home.rows().filter((row) => row.role === "summary");
	assert.equal(summaries.length, 1);
	assert.match(summaries[0].text, /分片/);
	await home.assertEqualsImport();
});

test("a message that another extension rewrote is one row with the file's text", async (t) => {
	const home = Home.for(t);
	await home.print("say something", { steps: [say("original")], extensions: ["rewrite"] });
	assert.deepEqual(texts(home.rows()), ["say something", "rewritten"]);
	await home.assertEqualsImport();
});

test("new, forked, cloned and switched sessions are each kept once", async (t) => {
	const home = Home.for(t);
	const pi = home.rpc({ steps: [say("one"), say("two"), say("three"), say("four")] });
	await pi.prompt("first");
	await pi.prompt("second");
	const { messages } = await pi.send({ type: "get_fork_messages" });
	await pi.send({ type: "fork", entryId: messages[1].entryId });
	await pi.prompt("second, otherwise");
	await pi.send({ type: "clone" });
	await pi.send({ type: "new_session" });
	await pi.prompt("fresh");
	await pi.send({ type: "switch_session", sessionPath: home.files()[0] });
	await pi.prompt("back again");
	await pi.end();
	assert.equal(new Set(home.rows().map((row) => row.session)).size, home.files().length);
	await home.assertEqualsImport();
});

test("/tree with a summary, /reload and an extension's message leave the store as the file has it", async (t) => {
	const home = Home.for(t);
	const steps = [say("one"), say("two"), say("SUMMARY of the branch"), say("after"), say("end")];
	const pi = home.rpc({ steps, extensions: ["commands"] });
	await pi.prompt("first");
	await pi.prompt("second");
	await pi.command("/tree-first");
	await pi.prompt("third");
	await pi.command("/reload-now");
	await pi.command("/idle-message");
	await pi.prompt("fourth");
	await pi.end();
	const rows = home.rows();
	assert.match(texts(rows.filter((row) => row.role === "summary")).join(), /SUMMARY of the branch/);
	assert.ok(texts(rows).includes("second"), "the abandoned branch is kept");
	await home.assertEqualsImport();
});

test("a name given late is the session's name", async (t) => {
	const home = Home.for(t);
	const pi = home.rpc();
	await pi.prompt("hello");
	await pi.send({ type: "set_session_name", name: "灯塔 plan" });
	await pi.end();
	assert.match((await home.print("/recall")).out, /"灯塔 plan"/);
});

test("calls of the memory tools are never kept", async (t) => {
	const home = Home.for(t);
	const steps = [[{ text: "looking" }, ...call("session_search", { query: "zebra" })], say("nothing there")];
	await home.print("search it", { steps });
	assert.deepEqual(texts(home.rows()), ["search it", "looking", "nothing there"]);
	await home.assertEqualsImport();
});

test("an aborted answer is kept as far as it came", async (t) => {
	const home = Home.for(t);
	const long = "word ".repeat(2_000);
	const pi = home.rpc({ steps: [say(long)], env: { PI_TEST_SPEED: "200" } });
	const settled = pi.next((event) => event.type === "agent_settled");
	let updates = 0;
	const speaking = pi.next((event) => event.type === "message_update" && ++updates > 5);
	await pi.send({ type: "prompt", message: "talk" });
	await speaking;
	await pi.send({ type: "abort" });
	await settled;
	await pi.end();
	const [, answer] = home.rows();
	assert.ok(answer.text.startsWith("word word") && answer.text.length < long.length);
	await home.assertEqualsImport();
});

test("two pis at once keep both conversations whole", async (t) => {
	const home = Home.for(t);
	const talk = async (name) => {
		const pi = home.rpc({ steps: Array.from({ length: 5 }, (_, n) => say(`${name} answers ${n}`)) });
		for (let n = 0; n < 5; n++) await pi.prompt(`${name} asks ${n}`);
		const { err } = await pi.end();
		assert.equal(err, "");
	};
	await Promise.all([talk("one"), talk("two")]);
	assert.equal(home.rows().length, 20);
	await home.assertEqualsImport();
});
