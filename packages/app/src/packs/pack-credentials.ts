import { randomBytes } from "node:crypto";
import {
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  type Dispatch,
  defineTool,
  type PackContext,
} from "@octant/core";
import { z } from "zod";

/** The tool by which the process of a pack gets its sign-ins. No caller but the pack sees it, and no log has its answers. */
export const CREDENTIALS = "credentials";

const credentialsTool = (headers: PackContext["credentials"]) =>
  defineTool({
    name: CREDENTIALS,
    summary: "The sign-ins that a pack has declared.",
    actions: {
      headers: action({
        summary: "The headers that sign a request in as the person.",
        access: "admin",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({ provider: z.string(), refused: z.boolean() }),
        output: z.record(z.string(), z.string()),
        errors: ["UNAUTHENTICATED", "PERMISSION_DENIED", "UPSTREAM_ERROR"],
        examples: [{ title: "Sign in to a provider", input: { provider: "hanzo", refused: false } }],
        run: ({ provider, refused }) => headers(provider, { refused }),
      }),
    },
  });

export type CredentialsTool = ReturnType<typeof credentialsTool>;

/** Answers outside the pipeline of other calls: a sign-in belongs in no audit log. */
export function serveCredentials(headers: PackContext["credentials"], log: (line: string) => void): Dispatch {
  const dispatch = createDispatcher({
    registry: createRegistry([credentialsTool(headers)]),
    cursors: createCursors(randomBytes(32)),
    onBug: ({ cause }) => log(`a sign-in failed: ${cause instanceof Error ? cause.name : "unknown"}`),
  });
  return (call, options) => dispatch(call, { ...options, caller: { id: "pack", access: "admin" } });
}
