import picomatch from "picomatch";

/**
 * `*`, `?`, `**`, `{a,b}` and `[ab]` have their usual meaning, including names with a leading dot; every other
 * character is literal, also `!`, `(` and `+`.
 */
export const toGlobTest = (glob: string): ((text: string) => boolean) =>
  picomatch(glob.replaceAll(/\\[\s\S]|[()|+^$!@]/g, keepEscape), {
    dot: true,
    nonegate: true,
    noextglob: true,
    // A new line in a name must not hide it from `**`.
    flags: process.platform === "darwin" ? "si" : "s",
  });

const keepEscape = (part: string) => (part.length > 1 ? part : `\\${part}`);

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

/** Whether a rule for this pattern is about `fs.read` or `mcp__server__tool`. */
export function toToolTest(pattern: string): (name: string) => boolean {
  if (GLOB.test(pattern)) return toGlobTest(pattern);
  if (pattern.includes(".")) return (name) => name === pattern;
  const below = isServer(pattern) ? `${pattern}__` : `${pattern}.`;
  return (name) => name === pattern || name.startsWith(below);
}

/** `mcp__git` matches all its tools; `mcp__git__log` is one of them. */
const isServer = (pattern: string) => /^mcp__(?:(?!__).)+$/.test(pattern);
