import { parseTextGlob } from "@octant/core";

/**
 * `*`, `?`, `**`, `{a,b}` and `[ab]` have their usual meaning, including names with a leading dot; every other
 * character is literal. Undefined when the glob cannot be evaluated.
 */
export function toGlobTest(glob: string): ((text: string) => boolean) | undefined {
  if (process.platform !== "darwin") return parseTextGlob(glob);
  const matches = parseTextGlob(glob.toLowerCase());
  return matches && ((text) => matches(text.toLowerCase()));
}

/** A glob that matches this text alone. */
export const escapeGlob = (text: string): string => text.replaceAll(/[\\*?[\]{}(),|+^$!@]/g, "\\$&");

export const isGlob = (text: string): boolean => /[\\*?[\]{}]/.test(text);

/** The folder that contains everything an absolute glob can match. */
export function literalFolder(glob: string): string {
  const segments = glob.split("/");
  const firstSign = segments.findIndex((segment) => /[*?[\]{}]/.test(segment.replaceAll(/\\[\s\S]/g, "")));
  const literal = firstSign === -1 ? segments : segments.slice(0, firstSign);
  return literal.join("/").replaceAll(/\\([\s\S])/g, "$1") || "/";
}

const GLOB = /[*?{}[\]]/;

/**
 * Whether a rule for this pattern is about `fs.read` or `mcp__server__tool`. One that cannot be evaluated is about
 * every tool if it narrows, and about none if it allows.
 */
export function toToolTest(pattern: string, allows = false): (name: string) => boolean {
  if (GLOB.test(pattern)) return toGlobTest(pattern) ?? (() => !allows);
  if (pattern.includes(".")) return (name) => name === pattern;
  const below = isServer(pattern) ? `${pattern}__` : `${pattern}.`;
  return (name) => name === pattern || name.startsWith(below);
}

/** `mcp__git` matches all its tools; `mcp__git__log` is one of them. */
const isServer = (pattern: string) => /^mcp__(?:(?!__).)+$/.test(pattern);
