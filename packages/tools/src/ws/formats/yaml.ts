import { linesOf } from "./lines.ts";

/** The items of a top-level `key:` list of plain or quoted texts, in block or flow style. */
export function readYamlList(yaml: string, key: string): string[] {
  const lines = linesOf(yaml);
  const start = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (start < 0) return [];
  const [, flow] = /^[^:]+:\s*\[([^\]]*)\]/.exec(lines[start] as string) ?? [];
  if (flow !== undefined) return flow.split(",").map(toPlain).filter(Boolean);
  const items: string[] = [];
  for (const line of lines.slice(start + 1)) {
    const [, item] = /^\s*-\s(.*)$/.exec(line) ?? [];
    if (item === undefined && !/^\s*(#.*)?$/.test(line)) break;
    if (item !== undefined) items.push(toPlain(item));
  }
  return items.filter(Boolean);
}

/** The text of a top-level `key: text`. */
export const readYamlText = (yaml: string, key: string): string | undefined => {
  const line = linesOf(yaml).find((one) => one.startsWith(`${key}:`));
  return toPlain(line?.slice(key.length + 1) ?? "") || undefined;
};

const toPlain = (item: string): string => {
  const text = item.trim();
  const [, , quoted] = /^(["'])(.*?)\1/.exec(text) ?? [];
  return quoted ?? text.replace(/\s#.*$/, "").trim();
};
