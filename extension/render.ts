// How the tools' calls look to the person: one line while folded, what the model was shown when unfolded.

import type { AgentToolResult, Theme, ToolRenderResultOptions } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { harmless } from "./format.ts";

/** What a call's two parts share: the outcome belongs on the call's line. */
interface Shared {
	outcome?: string;
}

/** What pi hands to both renderers, as far as they need it. */
interface Row {
	state: Shared;
	invalidate(): void;
}

/** Renderers of one tool: `asked` is what the call asks for, `outcome` what came of it. */
export function renderers<Args, Details>(
	name: string,
	asked: (args: Partial<Args>) => string,
	outcome: (details: Details) => string,
) {
	return {
		renderCall(args: Partial<Args> | undefined, theme: Theme, row: Row) {
			const parts = [
				theme.fg("toolTitle", theme.bold(name)),
				theme.fg("accent", oneLine(asked(args ?? {}))),
				...(row.state.outcome ? [theme.fg("muted", `· ${oneLine(row.state.outcome)}`)] : []),
			];
			return new Text(parts.join(" "), 0, 0);
		},
		renderResult(result: AgentToolResult<Details>, options: ToolRenderResultOptions, theme: Theme, row: Row) {
			if (!options.isPartial && result.details && row.state.outcome === undefined) {
				row.state.outcome = outcome(result.details);
				row.invalidate();
			}
			const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
			return new Text(options.expanded ? `\n${theme.fg("toolOutput", harmless(text))}` : "", 0, 0);
		},
	};
}

function oneLine(text: string): string {
	return harmless(text).replaceAll(/\s+/g, " ");
}
