import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { LANGUAGES } from "../../packages/search/src/syntax/languages/index.ts";

/** Puts the grammars beside the code that loads them: the packages they come in weigh ten times as much. */
export function copyGrammars(target: string): void {
  mkdirSync(target, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  for (const { grammar } of LANGUAGES) copyFileSync(resolve(grammar), join(target, basename(grammar)));
}
