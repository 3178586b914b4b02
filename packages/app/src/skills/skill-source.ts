import { join } from "node:path";
import { didYouMean, ToolError } from "@octant/core";
import type { SkillSource } from "@octant/tools";
import { findSkills, isForModel, type Skill, type SkillPlaces } from "./find-skills.ts";
import { readSkillFile } from "./skill-folder.ts";

/** The skills as `ws.skill` serves them. A caller on another machine sees those of the project only. */
export const createSkillSource = (places: SkillPlaces): SkillSource => {
  const visible = (isRemote: boolean) =>
    findSkills(places).filter(({ from, problem }) => problem === undefined && !(isRemote && from === "user"));
  return {
    list: (isRemote) => visible(isRemote).filter((skill) => !skill.waitsForTrust && isForModel(skill)),
    load(name, path, isRemote) {
      const all = visible(isRemote);
      const skill = all.find((one) => one.name === name && !one.waitsForTrust);
      if (!skill) throw notUsable(name, all);
      const bytes = readSkillFile(skill.folder, path);
      if (bytes === undefined) throw noFile(skill, path);
      // Files may have changed since the scan, and only trusted content may be returned.
      const now = findSkills(places).find(({ folder }) => folder === skill.folder);
      if (skill.content && now?.content?.hash !== skill.content.hash) throw waiting(skill);
      return { skill, uri: join(skill.folder, path), text: toText(bytes, skill, path) };
    },
  };
};

function notUsable(name: string, all: readonly Skill[]): ToolError {
  const untrusted = all.find((one) => one.name === name);
  if (untrusted) return waiting(untrusted);
  const names = all.map((one) => one.name);
  return new ToolError("NOT_FOUND", `there is no skill '${name}'.${didYouMean(name, names)}`, {});
}

export const waiting = ({ name, shown }: Skill): ToolError<"UNTRUSTED_CONFIG"> =>
  new ToolError(
    "UNTRUSTED_CONFIG",
    `the skill ${name} of this project is not trusted yet, or has changed; octant trust shows it and asks`,
    { waiting: [shown] },
  );

const noFile = ({ name, files }: Skill, path: string): ToolError =>
  new ToolError(
    "NOT_FOUND",
    `the skill ${name} has no readable file '${path}'; its files: ${files.map((file) => file.path).join(", ")}`,
    {},
  );

function toText(bytes: Buffer, { name }: Skill, path: string): string {
  if (!bytes.includes(0)) return bytes.toString("utf8");
  throw new ToolError("NOT_TEXT", `${path} of the skill ${name} is not text; run a program on it`, {
    uri: path,
  });
}
