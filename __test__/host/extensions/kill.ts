// Kills pi right after the assistant's first message_end, when every earlier handler has run.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function kill(pi: ExtensionAPI) {
	pi.on("message_end", (event) => {
		if (event.message.role === "assistant") process.kill(process.pid, "SIGKILL");
	});
}
