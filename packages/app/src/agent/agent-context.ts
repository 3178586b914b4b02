import { fileURLToPath } from "node:url";
import {
  findInstructions,
  type HostContext,
  type InstructionFile,
  type ToolHost,
  toProjectFacts,
  toSystemPrompt,
} from "@octant/agent";
import { pathToUri } from "@octant/host";
import { createInstructionTrust, type EffectiveSettings, type InstructionContent } from "@octant/runtime";
import type { Octant } from "../octant.ts";
import { findSkills, isForModel } from "../skills/find-skills.ts";

const CALLER = { id: "agent-context", access: "read" } as const;

/** The first folder of the workspace. */
export const cwdOf = ({ roots }: Pick<ToolHost, "roots">): string =>
  roots[0] === undefined ? "" : fileURLToPath(roots[0]);

/** The text before the first message: the project, its instructions, and the person's own. */
export const toSystem = (
  host: Pick<ToolHost, "roots">,
  { platform, project, instructions, untrusted, skills = [] }: HostContext,
  { custom_instructions: custom }: Pick<EffectiveSettings, "custom_instructions">,
  hasTools = true,
): string =>
  toSystemPrompt({
    cwd: cwdOf(host),
    platform,
    date: new Date().toISOString().slice(0, "2026-11-15".length),
    project,
    instructions: instructions.filter(({ nested }) => !nested),
    nested: instructions.filter(({ nested }) => nested).map(({ path }) => path),
    untrusted,
    skills,
    custom,
    hasTools,
  });

/** The project, and its instructions as far as the person trusts them. */
export async function loadHostContext(octant: Octant, env: NodeJS.ProcessEnv): Promise<HostContext> {
  const [detected, files] = await Promise.all([
    octant.dispatch({ tool: "ws", action: "detect", input: {} }, { caller: CALLER }),
    loadInstructions(octant),
  ]);
  const isTrusted = files.length === 0 ? () => true : createInstructionTrust({ env });
  const trusted = files.filter((file) => isTrusted(file));
  const untrusted = files.filter((file) => !isTrusted(file)).map(({ path }) => path);
  const skills = findSkills({ roots: octant.workspace.confinement.roots, env });
  const usable = skills.filter(({ problem, waitsForTrust }) => problem === undefined && !waitsForTrust);
  return {
    platform: `${process.platform} ${process.arch}`,
    project: detected.envelope.ok ? toProjectFacts(detected.envelope.data) : [],
    instructions: trusted,
    untrusted: [...untrusted, ...skills.filter((one) => one.waitsForTrust).map(({ shown }) => shown)],
    skills: usable.filter(isForModel).map(({ name, description }) => ({ name, description })),
  };
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
