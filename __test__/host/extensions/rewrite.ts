// Another extension that changes every answer after memory has seen it.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function rewrite(pi: ExtensionAPI) {
	pi.on("message_end", (event) => {
		if (event.message.role !== "assistant") return;
		return { message: { ...event.message, content: [{ type: "text", text: "rewritten" }] } };
	});
}
