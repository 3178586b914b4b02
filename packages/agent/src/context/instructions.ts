import type { Caller, Dispatch } from "@octant/core";

const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"] as const;
const MAX_FILES = 50;
const MAX_BYTES = 64 * 1024;

/** A file with instructions for agents in its folder. */
export interface InstructionFile {
  readonly uri: string;
  /** Relative to its root. */
  readonly path: string;
  readonly text: string;
  readonly hash: string;
  /** It applies only to its folder. */
  readonly nested: boolean;
}

/** The instruction files of a workspace, those of the roots first, without duplicates. */
export async function findInstructions(
  dispatch: Dispatch,
  roots: readonly string[],
  caller: Caller,
  signal?: AbortSignal,
): Promise<readonly InstructionFile[]> {
  const call = (action: string, input: unknown) =>
    dispatch({ tool: "fs", action, input }, { caller, ...(signal && { signal }) });
  const found: InstructionFile[] = [];
  for (const root of roots) {
    const pattern = `**/{${NAMES.join(",")}}`;
    const { envelope } = await call("list", {
      uri: root,
      pattern,
      kind: "file",
      depth: 12,
      limit: MAX_FILES,
    });
    const uris = envelope.ok ? urisOf(envelope.data).toSorted(byDepthThenName) : [];
    for (const uri of uris) {
      const read = await call("read", { uri, max_bytes: MAX_BYTES });
      const file = read.envelope.ok ? toFile(uri, root, read.envelope.data) : undefined;
      if (file && !found.some(({ hash, nested }) => hash === file.hash && nested === file.nested))
        found.push(file);
    }
  }
  return found;
}

function toFile(uri: string, root: string, data: unknown): InstructionFile | undefined {
  if (typeof data !== "object" || data === null || !("text" in data) || !("hash" in data)) return undefined;
  const { text, hash } = data;
  if (typeof text !== "string" || typeof hash !== "string" || text.trim() === "") return undefined;
  const path = decodeURIComponent(uri.slice(root.replace(/\/?$/, "/").length));
  return { uri, path, text, hash, nested: path.includes("/") };
}

function urisOf(data: unknown): string[] {
  const entries = typeof data === "object" && data !== null && "entries" in data ? data.entries : [];
  return Array.isArray(entries)
    ? entries.flatMap((entry) => (typeof entry?.uri === "string" ? [entry.uri] : []))
    : [];
}

function byDepthThenName(a: string, b: string): number {
  const depth = (uri: string) => uri.split("/").length;
  return depth(a) - depth(b) || (a < b ? -1 : 1);
}
