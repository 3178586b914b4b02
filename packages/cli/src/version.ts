import { readFileSync } from "node:fs";

/** The version of the installed package; the file lies above `src` and `dist` alike. */
export const loadVersion = (): string =>
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
