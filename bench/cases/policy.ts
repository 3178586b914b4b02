import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Access,
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  type DispatcherOptions,
  defineTool,
  ofKind,
  Uri,
} from "@octant/core";
import { z } from "zod";
import { createAuditLog } from "../../packages/runtime/src/audit/audit-log.ts";
import { recordCall } from "../../packages/runtime/src/audit/record-call.ts";
import { toAuditKey } from "../../packages/runtime/src/audit/seal.ts";
import { checkPermission } from "../../packages/runtime/src/permissions/check-permission.ts";
import type { PolicyCall } from "../../packages/runtime/src/permissions/facts.ts";
import { createPolicy } from "../../packages/runtime/src/permissions/policy.ts";
import type { PermissionRule } from "../../packages/runtime/src/permissions/rule.ts";
import { SessionAnswers } from "../../packages/runtime/src/permissions/session-answers.ts";
import { createRedactor } from "../../packages/runtime/src/redact/redactor.ts";
import { type Bench, type Case, expectEqual } from "../case.ts";
import { interleave } from "../measure.ts";
import { atLeast, atMost, type Row } from "../row.ts";

const RULES_PER_TIER = 50;
const TIERS = ["user", "project", "local", "environment"] as const;
const EVALUATIONS_PER_SAMPLE = 5_000;
const CALLS_PER_SAMPLE = 100;
const EVALUATIONS_PER_SECOND = 100_000;
const ADDED_MS = 0.05;

export const policy: readonly Case[] = [
  { name: "policy evaluations", run: evaluations },
  { name: "policy on a read", run: (bench) => added(bench, "policy on a read", "look") },
  { name: "policy on a change", run: (bench) => added(bench, "policy on a change", "change") },
];

const make = (access: Access) =>
  action({
    summary: "Does nothing.",
    access,
    timing: "sync",
    intent: access === "read" ? "inspect" : "apply",
    input: z.strictObject({
      uri: Uri.optional(),
      command: ofKind("command", z.union([z.string(), z.array(z.string())])).optional(),
      url: ofKind("host", z.string()).optional(),
    }),
    output: z.object({ done: z.boolean() }),
    examples: [{ title: "Nothing", input: {} }],
    run: () => ({ done: true }),
  });

const box = defineTool({
  name: "box",
  summary: "Does nothing.",
  actions: { look: make("read"), change: make("write") },
});

/** Typical rules: some for whole tools, some for folders, commands and hosts; a fifth apply to our calls. */
const TIER_RULES = TIERS.map((tier) => ({
  tier,
  rules: Array.from({ length: RULES_PER_TIER }, (_, n): PermissionRule => {
    const other: readonly PermissionRule[] = [
      { tool_pattern: `mcp__server_${n}__*`, mode: "prompt" },
      { tool_pattern: `{vcs,net}.action_${n}`, mode: "allow" },
      { tool_pattern: `tool_${n}`, mode: "deny" },
      { tool_pattern: `fs.r*_${n}`, mode: "allow" },
    ];
    const ours: readonly PermissionRule[] = [
      { tool_pattern: "box.*", mode: "deny", args: { path: `secret_${n}_${tier}/**` } },
      { tool_pattern: "box", mode: "deny", args: { command: [`program_${n}`, tier] } },
      { tool_pattern: "b?x.*", mode: "deny", args: { host: `*.evil-${n}.example:443` } },
    ];
    return n % 5 === 0 ? ours[(n / 5) % ours.length]! : other[n % other.length]!;
  }),
}));

async function evaluations({ tree, effort, random }: Bench): Promise<Row> {
  const { evaluate } = createPolicy(TIER_RULES, { roots: [tree.root] });
  const calls: readonly PolicyCall[] = [
    ...tree.smallFiles.slice(0, 2).map((uri) => ({ uri })),
    { uri: `${tree.scratchFolder}/new.ts` },
    { command: ["git", "status", "--short"] },
    { command: "npm test 2>&1 | tail -5" },
    { url: "https://api.example.com/v1" },
  ].map((input) => ({ name: "box.look", input, action: box.actions.look }));
  const mixed = [...calls, { name: "mcp__other__tool", input: {} }, { name: "vcs.log", input: {} }];
  for (const call of mixed) expectEqual(evaluate(call).tier, "default", "who decides");

  const { octant } = await interleave(
    {
      octant: async () => {
        const start = performance.now();
        for (let n = 0; n < EVALUATIONS_PER_SAMPLE; n++) evaluate(mixed[n % mixed.length]!);
        return EVALUATIONS_PER_SAMPLE / ((performance.now() - start) / 1_000);
      },
    },
    effort,
    random,
  );
  const note = `in process, ${TIERS.length * RULES_PER_TIER} rules; files, commands, hosts and names`;
  const bar = atLeast(EVALUATIONS_PER_SECOND);
  return { name: "policy evaluations", unit: "calls/s", octant, figure: octant.p50, bar, note };
}

/** The overhead of permissions, no hooks and the audit log on a call, in process: with and without, side by side. */
async function added({ tree, effort, random }: Bench, name: string, act: "look" | "change"): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-audit-"));
  const log = createAuditLog({
    folder,
    key: toAuditKey(Buffer.alloc(32, 1)),
    warn(message) {
      throw new Error(message);
    },
  });
  const places = { roots: [tree.root] };
  const withPolicy = createCalls(act, {
    audit: recordCall({
      log,
      redact: createRedactor({ secrets: [] }),
      arguments: "hash",
    }),
    policy: [
      checkPermission({
        policy: createPolicy(TIER_RULES, places),
        permissions: "host",
        session: new SessionAnswers(places),
      }),
    ],
  });
  const without = createCalls(act, {});
  const inputs = tree.smallFiles.map((uri) => ({ uri }));
  try {
    const spreads = await interleave(
      { octant: () => withPolicy(inputs), direct: () => without(inputs) },
      effort,
      random,
    );
    // Only the difference counts; a ratio to a call that does nothing would say little.
    const figure = spreads.octant.p50 - spreads.direct.p50;
    const note = "floor: the same dispatch without steps; figure: the difference";
    return { name, unit: "ms", ...spreads, figure, bar: atMost(ADDED_MS), note };
  } finally {
    log.close();
    rmSync(folder, { recursive: true });
  }
}

/** Resolves with the mean duration of one call. */
function createCalls(act: "look" | "change", steps: Pick<DispatcherOptions, "audit" | "policy">) {
  const dispatch = createDispatcher({
    registry: createRegistry([box]),
    cursors: createCursors(Buffer.alloc(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
    ...steps,
  });
  const caller = { id: "bench", access: "admin" } as const;
  return async (inputs: readonly object[]) => {
    const start = performance.now();
    for (let n = 0; n < CALLS_PER_SAMPLE; n++) {
      const input = inputs[n % inputs.length];
      const { envelope } = await dispatch({ tool: "box", action: act, input }, { caller });
      if (!envelope.ok) throw new Error(envelope.error.message);
    }
    return (performance.now() - start) / CALLS_PER_SAMPLE;
  };
}
