// The fault suite: every scenario in turn, what was tried and what was found wrong. `npm run faults` runs it whole; the
// tests run its short form.

import { chance, Place, stepLibrary } from "./fixture.mjs";
import { damage, full, imports, kills, log, refused, replaced, soak, writers } from "./processes.mjs";
import { atEverySteps, OPERATIONS } from "./steps.mjs";

/** How much of each: faults an operation, messages a writer, rounds of kills, seconds of each timed scenario. */
export const WHOLE = { steps: 60, messages: 1000, rounds: 20, seconds: 20, soak: 600 };
export const SHORT = { steps: 3, messages: 60, rounds: 1, seconds: 2, soak: 3 };

/** The scenarios by name; each returns what it tried and what was wrong. */
export function scenarios({ steps, messages, rounds, seconds, soak: soaked }, seed) {
	const random = chance(seed);
	const step = (name) => (place) => {
		const library = stepLibrary(place.dir);
		if (!library) return { tried: 0, wrong: [], note: "needs Linux and a C compiler" };
		return atEverySteps(name, { place, library, count: steps, seed });
	};
	return {
		...Object.fromEntries(Object.keys(OPERATIONS).map((name) => [`faults at steps of ${name}`, step(name)])),
		"eight writers at once": (place) => writers({ place, messages }),
		"kills at any moment": (place) => kills({ place, random, count: rounds }),
		"two imports and a writer": (place) => imports({ place, messages: Math.max(60, messages / 2) }),
		"a writer that never pauses": (place) => log({ place, seconds }),
		"damage met by several at once": (place) => damage({ place }),
		"a deleted and a replaced database": (place) => replaced({ place }),
		"a folder that refuses": (place) => refused({ place }),
		"a full disk": (place) => full({ place }),
		soak: (place) => soak({ place, random, seconds: soaked }),
	};
}

/** Runs one scenario in a folder of its own. */
export async function play(scenario) {
	const place = new Place();
	try {
		return await scenario(place);
	} finally {
		place.clear();
	}
}
