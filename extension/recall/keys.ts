// The screen's keys: pi's own keybindings where it has them, and how the footer names them.

import type { KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import { type Keybinding, matchesKey } from "@earendil-works/pi-tui";
import { columnsOf, fit } from "./columns.ts";

/** Acts that pi has no keybinding of the same meaning for everywhere: its binding, else the key. */
const ACTS = {
	fork: { binding: "app.session.fork", key: "ctrl+n" },
	copy: { binding: "app.message.copy", key: "ctrl+x" },
	forget: { binding: "app.session.delete", key: "ctrl+d" },
	read: { binding: "app.tools.expand", key: "ctrl+o" },
	quote: { binding: undefined, key: "ctrl+t" },
} as const;
type Act = keyof typeof ACTS;

const SIGNS: Record<string, string> = {
	return: "enter",
	escape: "esc",
	pageDown: "pgdn",
	pageUp: "pgup",
};

export class Keys {
	readonly #keys: KeybindingsManager;

	constructor(keys: KeybindingsManager) {
		this.#keys = keys;
	}

	/** Whether this input is one of pi's keybindings. */
	is(data: string, binding: Keybinding): boolean {
		return this.#keys.matches(data, binding);
	}

	/** Whether this input asks for the act. */
	asks(data: string, act: Act): boolean {
		return this.#of(act).some((key) => matchesKey(data, key as Parameters<typeof matchesKey>[1]));
	}

	/** What to press, as the footer names it: `^n` for ctrl+n. */
	name(what: Act | Keybinding): string {
		const [key] = Object.hasOwn(ACTS, what) ? this.#of(what as Act) : this.#keys.getKeys(what as Keybinding);
		return key ? (SIGNS[key] ?? key.replace(/^ctrl\+/, "^")) : "–";
	}

	#of(act: Act): string[] {
		const { binding, key } = ACTS[act];
		const bound = binding ? this.#keys.getKeys(binding) : [];
		return bound.length > 0 ? bound : [key];
	}
}

/** A key and what it does. */
export type Hint = [key: string, does: string];

/** Keys and what they do, on as many lines as they need. */
export function hintLines(hints: Hint[], width: number, theme: Theme): string[] {
	const lines: string[] = [];
	let used = width;
	for (const [key, does] of hints) {
		const hint = `${theme.fg("accent", key)} ${theme.fg("muted", does)}`;
		const columns = columnsOf(hint);
		if (used + 2 + columns <= width) {
			lines.push(`${lines.pop() ?? ""}  ${hint}`);
			used += 2 + columns;
		} else {
			lines.push(hint);
			used = columns;
		}
	}
	return lines.map((line) => fit(line, width));
}
