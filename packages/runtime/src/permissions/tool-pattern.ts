import { toGlobTest } from "./glob.ts";

const GLOB = /[*?{}[\]]/;

/** Whether a rule for this pattern is about `fs.read` or `mcp__server__tool`. */
export function toToolTest(pattern: string): (name: string) => boolean {
  if (GLOB.test(pattern)) return toGlobTest(pattern);
  if (pattern.includes(".")) return (name) => name === pattern;
  const below = isServer(pattern) ? `${pattern}__` : `${pattern}.`;
  return (name) => name === pattern || name.startsWith(below);
}

/** `mcp__git` matches all its tools; `mcp__git__log` is one of them. */
const isServer = (pattern: string) => /^mcp__(?:(?!__).)+$/.test(pattern);
