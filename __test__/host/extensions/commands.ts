// Commands for what rpc mode has no command for: /tree-first goes back to the first user message with a summary,
// /reload-now reloads, /idle-message adds an extension's message while nothing runs.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function commands(pi: ExtensionAPI) {
	pi.registerCommand("tree-first", {
		handler: async (_args, ctx) => {
			const entries = ctx.sessionManager.getEntries();
			const answer = entries.find((entry) => entry.type === "message" && entry.message.role === "assistant");
			if (answer) await ctx.navigateTree(answer.id, { summarize: true });
		},
	});
	pi.registerCommand("reload-now", { handler: (_args, ctx) => ctx.reload() });
	pi.registerCommand("idle-message", {
		handler: async () => pi.sendMessage({ customType: "test", content: "from an extension", display: true }),
	});
}
