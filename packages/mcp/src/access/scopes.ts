import type { Caller } from "@octant/core";

/** What a token is good for: the whole server or one project, to change it or (`:ro`) to look at it. */
export type Scope = "admin" | "admin:ro" | `project:${string}` | `project:${string}:ro`;

const SCOPE = /^(?:admin|project:(?<project>[A-Za-z0-9._-]{1,128}))(?<readOnly>:ro)?$/;

export const isScope = (text: string): text is Scope => SCOPE.test(text);

/** What can be asked for at a server of this project. */
export const scopesOf = (project: string | undefined): readonly Scope[] => [
  "admin",
  "admin:ro",
  ...(project === undefined ? [] : ([`project:${project}`, `project:${project}:ro`] as const)),
];

/** The widest that the scopes allow here; undefined when they allow nothing, as those of other projects do. */
export function toCaller(
  id: string,
  scopes: readonly string[],
  project: string | undefined,
): Caller | undefined {
  const granted = new Set(scopes);
  const remote = true;
  if (granted.has("admin")) return { id, access: "admin", remote };
  if (project !== undefined && granted.has(`project:${project}`))
    return { id, access: "write", reach: "project", remote };
  if (granted.has("admin:ro")) return { id, access: "read", remote };
  if (project !== undefined && granted.has(`project:${project}:ro`))
    return { id, access: "read", reach: "project", remote };
  return undefined;
}
