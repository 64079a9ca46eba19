// A scripted model behind an OpenAI-compatible server on the loopback, for hosts that take no model from an extension.

import { createServer } from "node:http";

/** Answers request after request with `steps` (as in ../host/pi.mjs), and remembers what each was shown. */
export async function serveModel(t) {
	const shown = [];
	const model = { shown, steps: [] };
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const chunk of request.setEncoding("utf8")) body += chunk;
		if (request.method !== "POST") return response.end(JSON.stringify({ object: "list", data: [{ id: "fake-1" }] }));
		const { messages, tools } = JSON.parse(body);
		// Without tools it is the host asking on its own account, for a title say.
		const step = tools?.length ? answer(model, messages) : [{ text: "a title" }];
		response.setHeader("content-type", "text/event-stream");
		for (const event of events(step)) response.write(`data: ${JSON.stringify(event)}\n\n`);
		response.end("data: [DONE]\n\n");
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	t.after(() => server.close());
	model.url = `http://127.0.0.1:${server.address().port}/v1`;
	return model;
}

function answer(model, messages) {
	model.shown.push(messages);
	const text = JSON.stringify(messages);
	const values = { $msg_id: Number(text.match(/msg_id=(\d+)/)?.[1]), $session: text.match(/session=([\w-]+)/)?.[1] };
	const filled = (args) =>
		Object.fromEntries(Object.entries(args).map(([name, value]) => [name, values[value] ?? value]));
	const step = model.steps.shift() ?? [{ text: "ok" }];
	return step.map((block) => (block.call ? { call: [block.call[0], filled(block.call[1])] } : block));
}

/** An answer as the chunks of a stream. */
function* events(step) {
	const chunk = (delta, finish_reason = null) => ({
		id: "c",
		object: "chat.completion.chunk",
		created: 0,
		model: "fake-1",
		choices: [{ index: 0, delta, finish_reason }],
	});
	for (const [index, { text, call }] of step.entries()) {
		if (text) yield chunk({ role: "assistant", content: text });
		else {
			const [name, args] = call;
			const id = `call_${Date.now()}_${index}`;
			yield chunk({
				tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
			});
		}
	}
	yield chunk({}, step.some(({ call }) => call) ? "tool_calls" : "stop");
	yield { ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
}
