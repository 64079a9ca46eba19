// npm run lint: the formatter's and linter's word on TypeScript and JavaScript.

import { join } from "node:path";
import { installPackages, root, run } from "./setup.mjs";

installPackages();
run(process.execPath, [join(root, "node_modules/@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."]);
