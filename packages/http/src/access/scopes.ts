import type { Caller } from "@octant/core";

/** The access of a token: to the whole server or one project, for changes or (`:ro`) only for reading. */
export type Scope = "admin" | "admin:ro" | `project:${string}` | `project:${string}:ro`;

const SCOPE = /^(?:admin|project:(?<project>[A-Za-z0-9._-]{1,128}))(?<readOnly>:ro)?$/;

export const isScope = (text: string): text is Scope => SCOPE.test(text);

/** In place of a project's id: the server has many projects, and a token may be for any one of them. */
export const ANY_PROJECT = "*";

/** The scopes that a server of this project accepts. */
export const scopesOf = (project: string | undefined): readonly Scope[] => [
  "admin",
  "admin:ro",
  ...(project === undefined || project === ANY_PROJECT
    ? []
    : ([`project:${project}`, `project:${project}:ro`] as const)),
];

/**
 * The caller with the widest access that the scopes grant here; undefined when they grant none, such as those of
 * other projects.
 */
export function toCaller(
  id: string,
  scopes: readonly string[],
  served: string | undefined,
): Caller | undefined {
  const granted = new Set(scopes);
  const project = served === ANY_PROJECT ? firstProject(scopes) : served;
  const remote = true;
  if (granted.has("admin")) return { id, access: "admin", remote };
  if (project !== undefined && granted.has(`project:${project}`))
    return { id, access: "write", project, remote };
  if (granted.has("admin:ro")) return { id, access: "read", remote };
  if (project !== undefined && granted.has(`project:${project}:ro`))
    return { id, access: "read", project, remote };
  return undefined;
}

const firstProject = (scopes: readonly string[]): string | undefined =>
  scopes.map((scope) => SCOPE.exec(scope)?.groups?.["project"]).find((project) => project !== undefined);
