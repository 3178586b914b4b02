import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A project with known states: generation n has these files, and a patch leads from each to the next. */
export function filesOf(generation: number): Record<string, string> {
  const text = `first\ngeneration ${generation}\nlast\n`;
  return {
    "a.txt": text,
    "deep/er/b.txt": text,
    "c.txt": text,
    // Appears and disappears, so that every step includes a create and a delete.
    [generation % 2 ? "odd/only.txt" : "even/only.txt"]: text,
    // Renamed in every step.
    [`named-${generation % 2}.txt`]: text,
  };
}

export function patchFrom(generation: number): {
  readonly patch: string;
  readonly files: { uri: string; base_hash: string }[];
} {
  const now = filesOf(generation);
  const next = Object.keys(filesOf(generation + 1));
  const [a, b, c, only, named] = Object.keys(now);
  const hunk = ` first\n-generation ${generation}\n+generation ${generation + 1}\n last\n`;
  const update = (name: string, more = "") => `*** Update File: ${name}\n${more}@@\n${hunk}`;
  const created = `+first\n+generation ${generation + 1}\n+last\n`;
  return {
    patch: [
      "*** Begin Patch\n",
      ...[a, b, c].map((name) => update(name!)),
      `*** Delete File: ${only}\n`,
      `*** Add File: ${next[3]}\n${created}`,
      update(named!, `*** Move to: ${next[4]}\n`),
      "*** End Patch\n",
    ].join(""),
    files: Object.entries(now).map(([uri, text]) => ({ uri, base_hash: hashOf(text) })),
  };
}

/** The generation of a folder, or its violation. */
export function generationOf(root: string): number | string {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found[path.slice(root.length + 1)] = readFileSync(path, "utf8");
  }
  const generation = Number(/^generation (\d+)$/m.exec(found["a.txt"] ?? "")?.[1] ?? Number.NaN);
  const wanted = Number.isNaN(generation) ? {} : filesOf(generation);
  return sorted(found) === sorted(wanted) ? generation : `neither old nor new: ${sorted(found)}`;
}

const sorted = (files: Record<string, string>): string =>
  JSON.stringify(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));

const hashOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
