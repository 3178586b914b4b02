import type { Caller, Dispatch } from "@octant/core";
import { z } from "zod";

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
): Promise<readonly InstructionFile[]> {
  /** undefined for a failed call, and for an answer of another form. */
  const call = async <T>(action: string, input: unknown, answer: z.ZodType<T>): Promise<T | undefined> => {
    const { envelope } = await dispatch({ tool: "fs", action, input }, { caller });
    return answer.safeParse(envelope.data).data;
  };
  const found: InstructionFile[] = [];
  for (const root of roots) {
    const pattern = `**/{${NAMES.join(",")}}`;
    const input = { uri: root, pattern, kind: "file", depth: 12, limit: MAX_FILES };
    const { entries = [] } = (await call("list", input, Listed)) ?? {};
    for (const uri of entries.map((entry) => entry.uri).sort(byDepthThenName)) {
      const read = await call("read", { uri, max_bytes: MAX_BYTES }, Read);
      const path = decodeURIComponent(uri.slice(root.replace(/\/?$/, "/").length));
      const nested = path.includes("/");
      if (read && !found.some((one) => one.hash === read.hash && one.nested === nested))
        found.push({ uri, path, nested, ...read });
    }
  }
  return found;
}

const Listed = z.object({ entries: z.array(z.object({ uri: z.string() })) });
const Read = z.object({ text: z.string().regex(/\S/), hash: z.string() });

function byDepthThenName(a: string, b: string): number {
  const depth = (uri: string) => uri.split("/").length;
  return depth(a) - depth(b) || (a < b ? -1 : 1);
}
