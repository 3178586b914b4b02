import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { LANGUAGES } from "../../packages/search/src/syntax/languages/index.ts";

/** Copies the grammars next to the code that loads them: their packages are ten times as large. */
export function copyGrammars(target: string): void {
  mkdirSync(target, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  for (const { grammar } of LANGUAGES) copyFileSync(resolve(grammar), join(target, basename(grammar)));
}
