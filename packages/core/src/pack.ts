import { z } from "zod";
import type { Client } from "./client.ts";
import type { Context, Tool } from "./tool.ts";

/** The rights of a pack in a process of its own. The person sees and accepts them before any code of the pack runs. */
export const PackRights = z.strictObject({
  /** Of the workspace. */
  files: z.enum(["none", "read", "write"]).default("none"),
  /** Files elsewhere that it reads: `$name` is the file whose path is in the setting of that name. */
  reads: z.array(z.string().regex(/^\$[A-Za-z]\w*$/, "expected $ and the name of a setting")).default([]),
  /** Hosts as `host`, `host:port` or `*.host`; `$name` is the host of the address in the setting of that name. */
  network: z.union([z.literal("none"), z.array(z.string().min(1)).min(1)]).default("none"),
  /** Whether it starts other programs. */
  processes: z.boolean().default(false),
  /** The sign-ins of `octant login` that it may send, by provider. */
  credentials: z.array(z.string().min(1)).default([]),
});
export type PackRights = z.output<typeof PackRights>;

/** The field `octant` of a pack's package.json. */
export const PackManifest = z.strictObject({
  pack: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, "expected lower-case letters, digits and '-'"),
  /** The tools of Octant that the pack calls; they are on where the pack is on. */
  uses: z.array(z.string()).default([]),
  rights: PackRights.prefault({}),
});
export type PackManifest = z.output<typeof PackManifest>;

/** The surroundings of a pack's tools. */
export interface PackContext<S extends z.ZodObject = z.ZodObject> {
  /** `packs.<name>.settings` of the person's settings, checked by the pack's own `settings`. */
  readonly settings: z.output<S>;
  /** A private folder for data that outlives the process. */
  readonly folder: string;
  /** The folders of the workspace; relative paths start at the first. */
  readonly roots: readonly string[];
  log(line: string): void;
  /**
   * The headers that sign a request in as the person; `refused` when the server has rejected the last ones. Throws
   * UNAUTHENTICATED without a sign-in, and PERMISSION_DENIED for one that `rights.credentials` does not name.
   */
  credentials(
    provider: string,
    options?: { readonly refused?: boolean },
  ): Promise<Readonly<Record<string, string>>>;
  /** Called when the pack ends; the last one first. */
  onClose(close: () => Promise<void> | void): void;
  /** Calls the tools in `uses` for the caller of a running call; permissions and the audit log apply. */
  client<T extends Tool>(ctx: Context): Client<T>;
}

/** The exports of a pack's module. */
export interface Pack<S extends z.ZodObject = z.ZodObject> {
  readonly tools: PackTools<S>;
  /** The schema of its settings. */
  readonly settings?: S;
}

type PackTools<S extends z.ZodObject> =
  | readonly Tool[]
  | ((context: PackContext<S>) => readonly Tool[] | Promise<readonly Tool[]>);
