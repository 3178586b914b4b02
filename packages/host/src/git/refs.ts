import { readdirSync } from "node:fs";
import { attempt } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { fromNative, type Path, toNative } from "../path.ts";
import { findRepository, readSmallFile } from "./repository.ts";

/** Enough for any repository that people work in; further ones are left out. */
const MAX_LOOSE_REFS = 10_000;

const OWN_REF = /^refs\/(?:heads\/.+|tags\/.+|stash)$/;
const VALUE = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/\S+)$/;

/**
 * HEAD, branches, tags and stash of the repository at a `.git` entry, read as plain files, one `name value` per line;
 * empty when it is not a repository that may be read.
 */
export function readRefs(confinement: Pick<Confinement, "roots">, entry: Path): string {
  const top = splitPath(entry).parent;
  const found = attempt(() => findRepository(confinement, top));
  if (found?.top !== top) return "";
  const refs = new Map<string, string>();
  const add = (name: string, value: string) => {
    if (VALUE.test(value)) refs.set(name, value);
  };
  for (const line of readSmallFile(`${found.commonDir}/packed-refs`).split("\n")) {
    const [, value = "", name = ""] = /^([0-9a-f]+) (\S+)$/.exec(line) ?? [];
    if (OWN_REF.test(name)) add(name, value);
  }
  for (const name of looseRefs(found.commonDir))
    if (OWN_REF.test(name)) add(name, readSmallFile(`${found.commonDir}/${name}`).trim());
  add("HEAD", readSmallFile(`${found.gitDir}/HEAD`).trim());
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name} ${value}`);
  // Another format, in which any change of a ref changes the list of tables.
  const tables = readSmallFile(`${found.commonDir}/reftable/tables.list`).split("\n").filter(Boolean);
  return [...lines, ...tables.map((table) => `reftable ${table}`)].join("\n");
}

function looseRefs(commonDir: Path): Path[] {
  const names: Path[] = [];
  const visit = (folder: Path) => {
    for (const dirent of attempt(() => readdirSync(toNative(`${commonDir}/${folder}`), OPTIONS)) ?? []) {
      if (names.length >= MAX_LOOSE_REFS) return;
      const name = `${folder}/${fromNative(dirent.name)}`;
      if (dirent.isDirectory()) visit(name);
      else if (dirent.isFile()) names.push(name);
    }
  };
  for (const folder of ["refs/heads", "refs/tags"]) visit(folder);
  return [...names, "refs/stash"];
}

const OPTIONS = { withFileTypes: true, encoding: "buffer" } as const;

/** undefined: the ref does not exist. */
export interface ChangedRef {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The refs that differ between two such lists. */
export function changedRefs(before: string, after: string): ChangedRef[] {
  const [old, now] = [toMap(before), toMap(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => old.get(name) !== now.get(name))
    .map((name) => ({ name, before: old.get(name), after: now.get(name) }));
}

const toMap = (list: string): ReadonlyMap<string, string> =>
  new Map(
    list
      .split("\n")
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
  );
