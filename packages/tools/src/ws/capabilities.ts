import {
  ANSWER_BYTES,
  action,
  type Backend,
  BackendStatus,
  MODE_NAMES,
  orAborted,
  type Tool,
  ToolError,
  Uri,
} from "@octant/core";
import { pathToUri, SANDBOX_LEVELS, SANDBOX_MODES, type SandboxStatus } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import type { WsOptions } from "./options.ts";

/** Each tool reports its own `backends`, so a new one needs no change here. */
export const capabilities = (options: WsOptions) =>
  action({
    summary: "List what works here: each tool's backends, the sandbox, mode, state and limits.",
    ...INSPECT,
    input: z.strictObject({}),
    output: z.object({
      octant: z.object({ version: z.string(), node: z.string(), platform: z.string(), arch: z.string() }),
      tools: z.array(z.object({ name: z.string(), version: z.string(), backends: z.array(BackendStatus) })),
      sandbox: z.object({
        mode: z.enum(SANDBOX_MODES),
        level: z.enum([...SANDBOX_LEVELS, "off"]),
        detail: z.string(),
        container: z.string().nullable().describe("The container or virtual machine around this process"),
        tried: z.array(z.object({ level: z.string(), works: z.boolean(), why: z.string() })),
      }),
      roots: z.array(Uri),
      mode: z.enum(MODE_NAMES).nullable().describe("null: no restriction"),
      state: z.object({ kind: z.enum(["persistent", "temporary"]), detail: z.string().optional() }),
      limits: z.record(z.string(), z.number()),
    }),
    examples: [{ title: "Check what is available", input: {} }],
    run: async (_, { signal }) => ({
      octant: {
        version: options.version,
        node: process.versions.node,
        platform: process.platform,
        arch: process.arch,
      },
      tools: await Promise.all(
        options.registry.list().map(async (tool) => ({
          name: tool.name,
          version: tool.version ?? "0",
          backends: [...(await backendsOf(tool, signal))],
        })),
      ),
      sandbox: toSandbox(await options.sandbox.status()),
      roots: options.workspace.confinement.roots.map(pathToUri),
      mode: options.mode ?? null,
      state: options.state,
      limits: { answer_bytes: ANSWER_BYTES, ...options.limits },
    }),
  });

const toSandbox = ({ tried, ...status }: SandboxStatus) => ({
  ...status,
  tried: tried.map((trial) => ({ ...trial })),
});

const PATIENCE_MS = 5_000;

/** One failing tool must not hide the others: its failure is a row of its own. */
async function backendsOf(tool: Tool, signal: AbortSignal): Promise<readonly Backend[]> {
  const failed = (detail: string): readonly Backend[] => [{ name: tool.name, available: false, detail }];
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const asked = (async () => (await tool.backends?.()) ?? [])();
  try {
    return await orAborted(asked, AbortSignal.any([signal, patience]));
  } catch (error) {
    signal.throwIfAborted();
    if (patience.aborted) return failed(`no answer within ${PATIENCE_MS} ms`);
    if (error instanceof ToolError) return failed(error.message);
    return failed(`the check failed; ${tool.name}.status has it logged`);
  }
}
