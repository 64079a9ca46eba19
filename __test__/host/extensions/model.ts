// A model that follows a script, so that the real pi runs without a network.
// PI_TEST_STEPS: a JSON list of answers; each is a list of blocks: {"text"}, {"thinking"} or {"call": [tool, arguments]}.
// In arguments, "$msg_id" and "$session" stand for the first message and session that session_search last showed.
// PI_TEST_SPEED: tokens a second; without it an answer comes at once.
// PI_TEST_SHOWN: a file that gets, as one JSON line an answer, the messages the model was shown.

import { appendFileSync } from "node:fs";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxThinking, fauxToolCall } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

type Block = { text: string } | { thinking: string } | { call: [string, Record<string, unknown>] };

export default function model(pi: ExtensionAPI) {
	const steps: Block[][] = JSON.parse(process.env.PI_TEST_STEPS ?? "[]");
	const tokensPerSecond = Number(process.env.PI_TEST_SPEED) || undefined;
	const faux = fauxProvider({ provider: "fake", models: [{ id: "fake-1" }], tokensPerSecond });
	let calls = 0;

	const answer = (context: { messages: unknown[] }) => {
		faux.appendResponses([answer]);
		const shown = JSON.stringify(context.messages);
		if (process.env.PI_TEST_SHOWN) appendFileSync(process.env.PI_TEST_SHOWN, `${shown}\n`);
		const step = steps.shift() ?? [{ text: "ok" }];
		const found = (pattern: RegExp) => [...shown.matchAll(pattern)].at(0)?.[1] ?? "0";
		const fill = (value: unknown) => {
			if (value === "$msg_id") return Number(found(/msg_id=(\d+)/g));
			if (value === "$session") return found(/session=([\w-]+)/g);
			return value;
		};
		const blocks = step.map((block) => {
			if ("text" in block) return fauxText(block.text);
			if ("thinking" in block) return fauxThinking(block.thinking);
			const [tool, args] = block.call;
			const filled = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fill(value)]));
			return fauxToolCall(tool, filled as never, { id: `call-${process.pid}-${++calls}` });
		});
		const stopReason = step.some((block) => "call" in block) ? "toolUse" : "stop";
		return fauxAssistantMessage(blocks, { stopReason });
	};
	faux.setResponses([answer]);
	pi.registerProvider(faux.provider);
}
