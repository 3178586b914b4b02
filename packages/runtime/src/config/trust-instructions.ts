import { type Person, realPlace, userFolder } from "./places.ts";
import { isRemembered, loadTrust, trustFolder } from "./trust.ts";

/** A file with instructions for agents, in a folder of the workspace. */
export interface InstructionContent {
  readonly folder: string;
  /** From the folder. */
  readonly path: string;
  /** Of its bytes. */
  readonly hash: string;
}

const toTrusted = ({ folder, path, hash }: InstructionContent) => ({
  folder: realPlace(folder),
  tier: `instructions:${path}` as const,
  hash,
});

/** Returns the files that the person has trusted with exactly this content. */
export function createInstructionTrust(person: Person): (file: InstructionContent) => boolean {
  const { trusted } = loadTrust(userFolder(person));
  return (file) => isRemembered(trusted, toTrusted(file));
}

/** Trusts the current contents of the files. */
export const trustInstructions = (files: readonly InstructionContent[], person: Person): Promise<void> =>
  trustFolder(files.map(toTrusted), person);
