import { hash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { replaceFile } from "../replace-file.ts";
import type { StateFolder } from "../state.ts";

export type Scratch = ReturnType<typeof openScratch>;

/** The sandbox's files in the workspace's state. Commands see only the folders bound for them. */
export function openScratch(state: StateFolder) {
  const path = state.folder("sandbox");
  /** One of our folders, created when missing. */
  const folder = (name: string): string => {
    const made = join(path, name);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  /** A file that is named by its content, so that it is never half written and never another one's. */
  const keep = (name: string, content: Uint8Array): string => {
    const digest = hash("sha256", content).slice(0, 32);
    const file = join(folder("kept"), `${name}-${digest}`);
    if (attempt(() => readFileSync(file).equals(content))) return file;
    replaceFile(file, content, { mode: 0o600, durable: false });
    return file;
  };
  /** An empty folder and an empty file, to cover others with. */
  const nothing = { folder: folder("nothing"), file: keep("nothing", Buffer.alloc(0)) };
  return { path, folder, keep, nothing };
}

/** World-writable like any temp folder; nobody else can reach it, since the state folder is private. */
export function openTempFolder(scratch: Scratch, name: string): string {
  const path = scratch.folder(name);
  chmodSync(path, 0o1777);
  return path;
}
