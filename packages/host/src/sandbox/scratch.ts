import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../replace-file.ts";
import type { StateFolder } from "../state.ts";

/** The sandbox's files in the workspace's state. Commands see only the folders bound for them. */
export interface Scratch {
  readonly path: string;
  /** One of our folders, created when missing. */
  folder(name: string): string;
  /** An empty folder and an empty file, to cover others with. */
  readonly nothing: { readonly folder: string; readonly file: string };
  /** A file that is named by its content, so that it is never half written and never another one's. */
  keep(name: string, content: Uint8Array): string;
}

export function openScratch(state: StateFolder): Scratch {
  const path = state.folder("sandbox");
  const folder = (name: string): string => {
    const made = join(path, name);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const keep = (name: string, content: Uint8Array): string => {
    const digest = createHash("sha256").update(content).digest("hex").slice(0, 32);
    const file = join(folder("kept"), `${name}-${digest}`);
    if (holds(file, content)) return file;
    replaceFile(file, content, { mode: 0o600, durable: false });
    return file;
  };
  const nothing = { folder: folder("nothing"), file: keep("nothing", Buffer.alloc(0)) };
  return { path, folder, keep, nothing };
}

/** World-writable like any temp folder; nobody else can reach it, since the state folder is private. */
export function openTempFolder(scratch: Scratch, name: string): string {
  const path = scratch.folder(name);
  chmodSync(path, 0o1777);
  return path;
}

function holds(file: string, content: Uint8Array): boolean {
  try {
    return readFileSync(file).equals(content);
  } catch {
    return false;
  }
}
