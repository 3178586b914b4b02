import { type Fields, isFields } from "@octant/core";

const MAX_ITEMS = 6;

/** The answer of `ws.detect` in a few lines. Missing facts are left out. */
export function toProjectFacts(detected: unknown): readonly string[] {
  if (!isFields(detected)) return [];
  const vcs = isFields(detected["vcs"]) ? detected["vcs"] : {};
  const lists = [
    ["Languages", "languages"],
    ["Package managers", "package_managers"],
    ["Build", "build"],
    ["Test", "test"],
    ["Frameworks", "frameworks"],
  ] as const;
  return [
    line("Name", [text(detected["name"])]),
    ...lists.map(([title, field]) =>
      line(
        title,
        listOf(detected, field).map(({ command, name }) => (command ? words(command) : text(name))),
      ),
    ),
    line("Git branch", [text(vcs["branch"])]),
  ].filter((one) => one !== "");
}

function line(title: string, items: readonly string[]): string {
  const shown = [...new Set(items.filter((item) => item !== ""))];
  const more = shown.length > MAX_ITEMS ? `, and ${shown.length - MAX_ITEMS} more (ws.detect)` : "";
  return shown.length === 0 ? "" : `${title}: ${shown.slice(0, MAX_ITEMS).join(", ")}${more}`;
}

const listOf = (fields: Fields, name: string): readonly Fields[] =>
  Array.isArray(fields[name]) ? fields[name].filter(isFields) : [];
/** It comes from the project's files and is inserted into one of our lines. */
const text = (value: unknown): string => (typeof value === "string" ? value.replace(/\p{C}+/gu, " ") : "");
const words = (value: unknown): string => (Array.isArray(value) ? value.map(text).join(" ") : "");
