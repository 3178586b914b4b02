import { ALIASES } from "./aliases.ts";

/** The real name of an alias in one of the tables. */
export const nameOf = (table: Readonly<Record<string, string>>, alias: string): string | undefined =>
  Object.entries(table).find(([, names]) => names.split(" ").includes(alias))?.[0];

export const toPlainName = (tool: string): string => tool.toLowerCase().replaceAll(/[_.-]/g, "");

/** What a model can do instead of a call that has no like here. */
export const hintFor = (name: string): string | undefined => nameOf(ALIASES.hints, toPlainName(name));
