import type { z } from "zod";

/** The actions of the tool. Those that read need no question; those that change always do. */
export const GROUPS = {
  cloud: { reads: true, summary: "Read from the platform: models, usage, apps, deployments, nodes." },
  auth: { reads: true, summary: "Read who is signed in, and their organizations." },
  deploy: { reads: false, summary: "Change apps: create, deploy, scale, roll back, delete." },
  node: { reads: false, summary: "Change nodes: create, start, stop, restart, delete." },
} as const;
export type Group = keyof typeof GROUPS;

export const METHODS = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** An operation of the server's API. */
export interface Operation {
  readonly name: string;
  readonly group: Group;
  readonly summary: string;
  readonly method: Method;
  /** Below the base URL, with `{name}` for each parameter in it. */
  readonly path: string;
  /** All parameters, of the path, the query and the body. */
  readonly parameters: z.ZodType;
  /** The names of those that the query carries. */
  readonly query: readonly string[];
}

/** The parameters in a path, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
