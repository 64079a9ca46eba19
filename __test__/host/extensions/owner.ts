// Another extension with a tool of our tool's name, as several packages have.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function owner(pi: ExtensionAPI) {
	pi.registerTool({
		name: "session_search",
		label: "theirs",
		description: "Searches in another way.",
		parameters: Type.Object({ query: Type.String() }),
		execute: async () => ({ content: [{ type: "text", text: "theirs" }], details: undefined }),
	});
}
