// A question in place of the list: its text, and what may be chosen.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { fit } from "./columns.ts";
import type { Keys } from "./keys.ts";
import { plain } from "./paint.ts";

interface Choosable {
	label: string;
	run(): void;
}

export class Menu {
	readonly #title: string[];
	readonly #choices: Choosable[];
	#at = 0;

	constructor(title: string[], choices: Choosable[]) {
		this.#title = title;
		this.#choices = choices;
	}

	/** Takes a key; gives what was chosen, `close` when nothing was, nothing while the question stands. */
	take(data: string, keys: Keys): Choosable | "close" | undefined {
		const count = this.#choices.length;
		if (keys.is(data, "tui.select.cancel")) return "close";
		if (keys.is(data, "tui.select.up")) this.#at = (this.#at + count - 1) % count;
		else if (keys.is(data, "tui.select.down")) this.#at = (this.#at + 1) % count;
		else if (keys.is(data, "tui.select.confirm")) return this.#choices[this.#at];
		else if (/^[1-9]$/.test(data)) return this.#choices[Number(data) - 1];
		return undefined;
	}

	/** As many lines as it needs. */
	lines(width: number, theme: Theme): string[] {
		const title = this.#title.flatMap((line) =>
			wrapTextWithAnsi(theme.fg("warning", plain(line)), Math.max(4, width - 4)),
		);
		const choices = this.#choices.map(({ label }, index) => {
			const at = index === this.#at;
			return `${at ? theme.fg("accent", "→") : " "} ${theme.fg("dim", String(index + 1))} ${at ? theme.bold(label) : label}`;
		});
		return [...title, ...choices].map((line) => fit(`  ${line}`, width));
	}
}
