import {
  createInstructionTrust,
  loadConfig,
  trustFolder,
  trustInstructions,
  type WaitingForTrust,
} from "@octant/runtime";
import { loadOwnMemoryFiles } from "@octant/tools";
import { createOctant, type OctantOptions } from "../octant.ts";
import { findSkills } from "../skills/find-skills.ts";
import { loadInstructions } from "./agent-context.ts";
import { markdownFiles, TRUSTED_FOLDERS } from "./markdown-files.ts";

/** Settings and instructions of a folder that are not trusted yet. */
export interface Waiting {
  readonly settings: readonly WaitingForTrust[];
  readonly instructions: Awaited<ReturnType<typeof findInstructions>>;
  readonly count: number;
}

interface Place extends Pick<OctantOptions, "log"> {
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export async function findUntrusted(place: Place): Promise<Waiting> {
  const { waiting } = loadConfig(place);
  const instructions = await findInstructions(place);
  return { settings: waiting, instructions, count: waiting.length + instructions.length };
}

/** Trusts exactly the content that was found. */
export async function trustWaiting(
  { settings, instructions }: Waiting,
  where: Pick<Place, "env">,
): Promise<void> {
  await trustFolder(settings, where);
  await trustInstructions(instructions, where);
}

/** Instruction files that nobody has reviewed yet. */
async function findInstructions({ env, ...place }: Place) {
  await using octant = createOctant({ ...place, env, tools: ["fs"] });
  const isTrusted = createInstructionTrust({ env });
  const folders = TRUSTED_FOLDERS.flatMap((folder) => markdownFiles(octant, folder));
  const own = loadOwnMemoryFiles(octant.workspace.state);
  const skills = findSkills({ roots: octant.workspace.confinement.roots, env });
  const contents = skills.flatMap(({ content, waitsForTrust }) =>
    content && waitsForTrust ? [content] : [],
  );
  return [...(await loadInstructions(octant)), ...folders, ...contents].filter(
    (file) => !isTrusted(file) && !own.has(file.hash),
  );
}
