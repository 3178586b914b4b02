import type { Caller } from "@octant/core";

/** The access of a token: to the whole server or one project, for changes or (`:ro`) only for reading. */
export type Scope = "admin" | "admin:ro" | `project:${string}` | `project:${string}:ro`;

const SCOPE = /^(?:admin|project:(?<project>[A-Za-z0-9._-]{1,128}))(?<readOnly>:ro)?$/;

export const isScope = (text: string): text is Scope => SCOPE.test(text);

/** The scopes that a server of this project accepts. */
export const scopesOf = (project: string | undefined): readonly Scope[] => [
  "admin",
  "admin:ro",
  ...(project === undefined ? [] : ([`project:${project}`, `project:${project}:ro`] as const)),
];

/**
 * The caller with the widest access that the scopes grant here; undefined when they grant none, such as those of
 * other projects.
 */
export function toCaller(
  id: string,
  scopes: readonly string[],
  project: string | undefined,
): Caller | undefined {
  const granted = new Set(scopes);
  const remote = true;
  if (granted.has("admin")) return { id, access: "admin", remote };
  if (project !== undefined && granted.has(`project:${project}`))
    return { id, access: "write", project, remote };
  if (granted.has("admin:ro")) return { id, access: "read", remote };
  if (project !== undefined && granted.has(`project:${project}:ro`))
    return { id, access: "read", project, remote };
  return undefined;
}
