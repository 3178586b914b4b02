import { existsSync } from "node:fs";
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

const CALLER = { id: "agent-context", access: "read", isPerson: true } as const;

/** The first folder of the workspace. */
export const cwdOf = ({ roots }: Pick<ToolHost, "roots">): string =>
  roots[0] === undefined ? "" : fileURLToPath(roots[0]);

/** The text before the first message: the project, its instructions, and the person's own. */
export const toSystem = (
  host: Pick<ToolHost, "roots">,
  { platform, machine = [], project, instructions, untrusted, skills = [] }: HostContext,
  { custom_instructions: custom }: Pick<EffectiveSettings, "custom_instructions">,
  hasTools = true,
): string =>
  toSystemPrompt({
    cwd: cwdOf(host),
    platform,
    machine,
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
  const [detected, status, files, machine] = await Promise.all([
    octant.dispatch({ tool: "ws", action: "detect", input: {} }, { caller: CALLER }),
    octant.dispatch({ tool: "vcs", action: "status", input: { limit: 1 } }, { caller: CALLER }),
    loadInstructions(octant),
    describeMachine(octant),
  ]);
  const isTrusted = files.length === 0 ? () => true : createInstructionTrust({ env });
  const trusted = files.filter((file) => isTrusted(file));
  const untrusted = files.filter((file) => !isTrusted(file)).map(({ path }) => path);
  const skills = findSkills({ roots: octant.workspace.confinement.roots, env });
  const usable = skills.filter(({ problem, waitsForTrust }) => problem === undefined && !waitsForTrust);
  return {
    platform: `${process.platform} ${process.arch}`,
    machine,
    project: [
      ...(detected.envelope.ok ? toProjectFacts(detected.envelope.data) : []),
      ...(status.envelope.ok ? [describeState(status.envelope.data)] : []),
    ],
    instructions: trusted,
    untrusted: [...untrusted, ...skills.filter((one) => one.waitsForTrust).map(({ shown }) => shown)],
    skills: usable.filter(isForModel).map(({ name, description }) => ({ name, description })),
  };
}

/** The limits of commands, as the model has to expect them. */
async function describeMachine({ config, workspace }: Octant): Promise<readonly string[]> {
  const { network } = config.settings.sandbox;
  const { level } = await workspace.sandbox.status();
  const reach = typeof network === "string" ? network : `only ${network.join(", ")}`;
  const unconfined = await workspace.sandbox.unconfined();
  return [
    `Shell: ${existsSync("/bin/bash") || existsSync("/usr/bin/bash") ? "bash" : "sh"}`,
    unconfined
      ? `Sandbox: ${unconfined.by ?? "none; each command may be asked about"}`
      : `Sandbox: ${level}; commands write only the workspace, temp files and caches, and see no keys. Network: ${reach}`,
    "Approval: depends on the mode, which the person may change. Reading never asks; edits and commands may. Commands that run unasked have no network unless a rule allows them; proc.exec with needs and reason asks for more rights.",
  ];
}

/** Whether there is uncommitted work, from the answer of vcs.status. */
function describeState(status: unknown): string {
  const { clean } = Object(status);
  return typeof clean === "boolean" ? `Git: ${clean ? "clean" : "uncommitted changes"}` : "";
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
