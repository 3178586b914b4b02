import { action, defineTool, invalidArgument } from "@octant/core";
import { isScope, type Scope } from "@octant/http";
import { z } from "zod";
import { findProject } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { HubToken, HubTokens } from "./hub-tokens.ts";

const TokenId = z.string().regex(/^[0-9a-f]{16}$/, "a token id is 16 hex digits; token.list shows them");
const ScopeText = z
  .string()
  .refine(isScope, "a scope is admin, admin:ro, project:<id> or project:<id>:ro")
  .describe("admin, admin:ro, project:<id>, project:<id>:ro");
const Future = z.iso.datetime({ offset: true }).describe("ISO 8601");
const TokenView = z.object({
  token_id: z.string(),
  name: z.string().optional(),
  scope: z.string(),
  created_at: z.string(),
  expires_at: z.string().optional(),
  last_used_at: z.string().optional(),
});
const Shown = TokenView.extend({ token: z.string().describe("Shown only now; store it") });
const EXAMPLE_ID = "00c0ffee00c0ffee";
const MAX_GRACE_S = 604_800;
const HOUR_S = 3_600;

const toView = ({ id, secrets: _secrets, project_id: _project, ...rest }: HubToken) => ({
  ...rest,
  token_id: id,
});

export const tokenTool = (tokens: HubTokens, store: HubStore) =>
  defineTool({
    name: "token",
    summary: "Create, list, rotate and revoke the tokens of this hub.",
    actions: {
      create: action({
        summary: "Create a token; its text is shown once.",
        ...ADMIN,
        input: z.strictObject({
          name: z.string().min(1).max(200),
          scope: ScopeText,
          expires_at: Future.optional(),
        }),
        output: Shown,
        errors: ["NOT_FOUND", "ALREADY_EXISTS"],
        examples: [{ title: "For a dashboard", input: { name: "dashboard", scope: "admin:ro" } }],
        async run({ name, scope, expires_at }) {
          if (expires_at !== undefined && Date.parse(expires_at) <= Date.now())
            throw invalidArgument("expires_at", "it is in the past");
          const project_id = projectOfScope(scope);
          if (project_id !== undefined) await findProject(store, project_id);
          const { token, ...made } = await tokens.create({ name, scope, expires_at });
          return { ...toView(made), token };
        },
      }),
      list: action({
        summary: "The tokens, newest first, without their texts.",
        ...ADMIN,
        intent: "inspect",
        input: z.strictObject({}),
        output: z.object({ tokens: z.array(TokenView).readonly() }),
        examples: [{ title: "All", input: {} }],
        run: async () => ({ tokens: (await tokens.list()).map(toView) }),
      }),
      rotate: action({
        summary: "Give a token another text; the earlier one works for a while.",
        ...ADMIN,
        input: z.strictObject({
          token_id: TokenId,
          grace_s: z
            .int()
            .min(0)
            .max(MAX_GRACE_S)
            .default(HOUR_S)
            .describe("How long the earlier text works"),
        }),
        output: Shown.extend({ earlier_until: z.string() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "With an hour to switch", input: { token_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        async run({ token_id, grace_s }) {
          const { token, earlier_until, ...made } = await tokens.rotate(token_id, grace_s * 1_000);
          return { ...toView(made), token, earlier_until };
        },
      }),
      revoke: action({
        summary: "Revoke a token; its open requests end.",
        ...ADMIN,
        destructive: true,
        input: z.strictObject({ token_id: TokenId }),
        output: z.object({ revoked: z.literal(true) }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { token_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        async run({ token_id }) {
          await tokens.revoke(token_id);
          return { revoked: true as const };
        },
      }),
    },
  });

const ADMIN = { access: "admin", target: "global", timing: "sync", intent: "apply" } as const;

const projectOfScope = (scope: Scope): string | undefined => /^project:([^:]+)/.exec(scope)?.[1];
