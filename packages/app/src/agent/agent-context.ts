import { fileURLToPath } from "node:url";
import { findInstructions, type InstructionFile, toProjectFacts, toSystemPrompt } from "@octant/agent";
import { pathToUri } from "@octant/host";
import { createInstructionTrust, type InstructionContent } from "@octant/runtime";
import type { Octant } from "../octant.ts";

const CALLER = { id: "agent-context", access: "read" } as const;

export interface AgentContext {
  readonly system: string;
  /** Project instructions that have no effect until they are trusted. */
  readonly untrusted: readonly string[];
}

/** The context before the first message: the project, its instructions, and the person's own. */
export async function loadAgentContext(octant: Octant, env: NodeJS.ProcessEnv): Promise<AgentContext> {
  const [detected, files] = await Promise.all([
    octant.dispatch({ tool: "ws", action: "detect", input: {} }, { caller: CALLER }),
    loadInstructions(octant),
  ]);
  const isTrusted = files.length === 0 ? () => true : createInstructionTrust({ env });
  const trusted = files.filter((file) => isTrusted(file));
  const untrusted = files.filter((file) => !isTrusted(file)).map(({ path }) => path);
  const system = toSystemPrompt({
    cwd: octant.workspace.confinement.roots[0] ?? "",
    platform: `${process.platform} ${process.arch}`,
    date: new Date().toISOString().slice(0, "2026-11-15".length),
    project: detected.envelope.ok ? toProjectFacts(detected.envelope.data) : [],
    instructions: trusted.filter(({ nested }) => !nested),
    nested: trusted.filter(({ nested }) => nested).map(({ path }) => path),
    untrusted,
    custom: octant.config.settings.custom_instructions,
  });
  return { system, untrusted };
}

/** The files with instructions for agents, each with its root. */
export async function loadInstructions(
  octant: Octant,
): Promise<readonly (InstructionFile & InstructionContent)[]> {
  const uris = octant.workspace.confinement.roots.map(pathToUri);
  const files = await findInstructions(octant.dispatch, uris, CALLER);
  return files.map((file) => {
    const root = uris.find((uri) => file.uri.startsWith(`${uri.replace(/\/$/, "")}/`)) ?? uris[0] ?? "";
    return { ...file, folder: fileURLToPath(root) };
  });
}
