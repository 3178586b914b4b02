import { readFileSync } from "node:fs";

/** The version of the installed package; its package.json is above both `src` and `dist`. */
export const loadVersion = (): string =>
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
