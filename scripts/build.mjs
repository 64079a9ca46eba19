// npm run build: the release addon, in place.

import { relative } from "node:path";
import { buildRelease } from "./addon.mjs";
import { root } from "./setup.mjs";

console.log(`built ${relative(root, buildRelease())}`);
