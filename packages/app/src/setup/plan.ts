import { isAbsolute, relative } from "node:path";
import { unifiedDiff } from "@octant/host";
import type { Client, Scope } from "./clients.ts";
import { ConfigProblem } from "./config-format.ts";
import {
  defaultFlags,
  flagsIn,
  formatOf,
  SERVER_NAME,
  type Start,
  toFields,
  toStart,
  toUrl,
  withAnswers,
  withApproval,
  withRoots,
} from "./entry.ts";
import type { Launch } from "./launch.ts";
import { fileOf, type Machine } from "./places.ts";
import { followLinks, loadFile } from "./replace-file.ts";

/** A client and its file. */
export interface Target {
  readonly client: Client;
  readonly scope: Scope;
  readonly file: string;
}

/** Empty when a client has no such file. */
export function targetsOf(client: Client, scope: Scope, machine: Machine): Target[] {
  const file = fileOf(client, scope, machine);
  return file === undefined ? [] : [{ client, scope, file }];
}

export interface Wish {
  readonly launch: Launch;
  /** Replaces the registered roots, or the client's default. */
  readonly roots: readonly string[];
  readonly remove: boolean;
}

export type Plan = Target &
  (
    | {
        readonly does: "add" | "change" | "remove";
        /** undefined when the file does not exist. */
        readonly before: Buffer | undefined;
        readonly after: Buffer;
        readonly diff: string;
      }
    | { readonly does: "nothing" }
    | { readonly does: "refuse"; readonly reason: string }
  );

/** Computes the change to the file without writing it. */
export function planChange(target: Target, wish: Wish, machine: Machine): Plan {
  if (leavesProject(target, machine))
    return { ...target, does: "refuse", reason: "it is a link to outside of the project" };
  const before = loadFile(target.file);
  try {
    const { isRegistered, text, changed } = edit(target.client, decode(before), wish, machine);
    if (text === changed) return { ...target, does: "nothing" };
    const after = encode(before, changed);
    const does = wish.remove ? "remove" : isRegistered ? "change" : "add";
    return { ...target, does, before, after, diff: diffOf(before, after) };
  } catch (cause) {
    if (!(cause instanceof ConfigProblem)) throw cause;
    return {
      ...target,
      does: "refuse",
      reason: `line ${cause.line}, column ${cause.column}: ${cause.message}`,
    };
  }
}

/** The path of our entry in the client's file. */
export const entryPath = ({ servers }: Client): string[] => [servers, SERVER_NAME];

/** Throws a ConfigProblem when the bytes are not text. */
function decode(bytes: Buffer | undefined): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigProblem("", 0, "this file is not UTF-8");
  }
}

/** The content of a new file with only our entry. */
export const snippetOf = (client: Client, wish: Wish, machine: Machine): string =>
  edit(client, "", { ...wish, remove: false }, machine).changed;

function edit(client: Client, text: string, wish: Wish, machine: Machine) {
  const format = formatOf(client);
  const path = entryPath(client);
  const entry = format.read(text, path);
  const isRegistered = entry !== undefined;
  if (wish.remove) return { isRegistered, text, changed: format.remove(text, path) };
  const kept = flagsIn(entry && toStart(client, entry)) ?? defaultFlags(client, machine.cwd);
  const flags = wish.roots.length > 0 ? withRoots(kept, wish.roots) : kept;
  const approval = withApproval(client, entry, withAnswers(flags));
  const launch = { ...wish.launch, args: [...wish.launch.args, ...approval.flags] };
  const changed = format.set(text, path, { ...toFields(client, launch), ...approval.fields });
  // Parses the result as the client will, so that invalid content is never written.
  format.read(changed, path);
  return { isRegistered, text, changed };
}

/** How the client would start its entry, or where its server runs; neither when there is no entry. */
export function readEntry({ client, file }: Target): { readonly start?: Start; readonly url?: URL } {
  const entry = formatOf(client).read(decode(loadFile(file)), entryPath(client));
  const start = entry && toStart(client, entry);
  const url = entry && !start ? toUrl(entry) : undefined;
  return { ...(start && { start }), ...(url && { url }) };
}

/** A project's files come with it and are untrusted. */
function leavesProject({ scope, file }: Target, { cwd }: Machine): boolean {
  if (scope === "user") return false;
  const path = relative(followLinks(cwd), followLinks(file));
  return path.startsWith("..") || isAbsolute(path);
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

function encode(before: Buffer | undefined, text: string): Buffer {
  const hasMark = before?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return Buffer.concat([...(hasMark ? [BYTE_ORDER_MARK] : []), Buffer.from(text)]);
}

/** Only the changed lines; the caller shows the file name. */
function diffOf(before: Buffer | undefined, after: Buffer): string {
  const diff = unifiedDiff({ path: "file", before: before ?? null, after });
  return diff.slice(diff.indexOf("\n@@") + 1);
}
