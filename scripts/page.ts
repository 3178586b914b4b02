// `npm run page`: builds the console's page for a checkout; `npm run build` does the same for a release. With
// --if-changed, as in `npm start`, only when a source is newer than the last build.
import { globSync, statSync } from "node:fs";
import { join } from "node:path";

const CONSOLE = join(import.meta.dirname, "../packages/console");
const TARGET = join(CONSOLE, "dist/page");

if (!process.argv.includes("--if-changed") || isStale()) {
  const { buildPage } = await import("./build/build-page.ts");
  await buildPage(TARGET);
}

function isStale(): boolean {
  const built = statSync(join(TARGET, "index.html"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync(["page/**/*.*", "src/api.ts"], { cwd: CONSOLE });
  return sources.some((file) => statSync(join(CONSOLE, file)).mtimeMs > built);
}
