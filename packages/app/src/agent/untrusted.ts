import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, toExact } from "@octant/core";
import { hashOf, replaceFile } from "@octant/host";
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

const DECLINED = "declined-trust";
const hashOfWaiting = (waiting: Waiting): string => hashOf(Buffer.from(JSON.stringify(waiting)));

/** Whether the person has declined exactly this; the folder is that of their answers. */
export const isDeclined = (waiting: Waiting, folder: string): boolean =>
  attempt(() => readFileSync(join(folder, DECLINED), "utf8")) === hashOfWaiting(waiting);

export const declineTrust = (waiting: Waiting, folder: string): void =>
  replaceFile(join(folder, DECLINED), hashOfWaiting(waiting), { mode: 0o600 });

/** Everything that would take effect, for the person to read. */
export const linesOfWaiting = ({ settings, instructions }: Waiting): readonly string[] => [
  ...settings.flatMap(({ file, parts }) => [
    toExact(file),
    ...parts.map(({ key, line, shown }) => `  line ${line}  ${toExact(key)}: ${toExact(shown)}`),
  ]),
  ...instructions.flatMap(({ path, text }) => [
    `${toExact(path)}: instructions for the agent`,
    ...text
      .trimEnd()
      .split("\n")
      .map((line) => `  | ${toExact(line)}`),
  ]),
];

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
