import { readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type FrontMatter, isOn, parseFrontMatter, textField } from "@octant/agent";
import { toOneLine } from "@octant/core";
import { isWithin } from "@octant/host";
import { createInstructionTrust, type InstructionContent } from "@octant/runtime";
import { readSkillFile, type SkillFile, scanSkillFolder } from "./skill-folder.ts";

/** Folders of agents, in the order in which a name counts. */
const AGENT_FOLDERS = [".hanzo", ".claude", ".agents"] as const;

/** A folder with a SKILL.md: https://agentskills.io. */
export interface Skill {
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly from: "user" | "project";
  /** As a person reads it: `~/.claude/skills/pdf`. */
  readonly shown: string;
  /** Its real place. */
  readonly folder: string;
  readonly files: readonly SkillFile[];
  readonly head: FrontMatter;
  /** For a skill of the project: what trust is bound to. */
  readonly content?: InstructionContent & { readonly text: string };
  /** Why it has no effect. */
  readonly problem?: string;
  readonly waitsForTrust: boolean;
}

export interface SkillPlaces {
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** All skills of the person and the project, also those without effect; the person's own come first. */
export function findSkills({ roots, env }: SkillPlaces): readonly Skill[] {
  const isTrusted = createInstructionTrust({ env });
  const home = env["HOME"] ?? homedir();
  const found = [
    ...AGENT_FOLDERS.flatMap((agent) => skillsIn({ base: home, agent, from: "user" })),
    ...roots.flatMap((base) => AGENT_FOLDERS.flatMap((agent) => skillsIn({ base, agent, from: "project" }))),
  ];
  const byFolder = new Map(found.toReversed().map((skill) => [skill.folder, skill]));
  const taken = new Map<string, Skill>();
  return found
    .filter((skill) => byFolder.get(skill.folder) === skill)
    .map((skill) => {
      const first = taken.get(skill.name);
      if (skill.problem !== undefined) return skill;
      if (first) return { ...skill, problem: `${first.shown} has the same name` };
      const waitsForTrust = skill.content !== undefined && !isTrusted(skill.content);
      // An untrusted skill must not take the name of a trusted one.
      if (!waitsForTrust) taken.set(skill.name, skill);
      return { ...skill, waitsForTrust };
    });
}

/** The fields of the head that Octant ignores. */
export const ignoredFields = ({ head }: Pick<Skill, "head">, known: readonly string[]): readonly string[] =>
  [...head.fields.keys()].filter((name) => !known.includes(name));

/** The fields that Octant honours; `allowed-tools` grants nothing, because the person's rules decide. */
export const SKILL_FIELDS = [
  "name",
  "description",
  "license",
  "compatibility",
  "argument-hint",
  "disable-model-invocation",
  "user-invocable",
  "when_to_use",
  "version",
] as const;

export const isForModel = ({ head }: Skill): boolean => !isOn(head, "disable-model-invocation");
export const isForPerson = ({ head }: Skill): boolean => head.fields.get("user-invocable") !== "false";

interface Place {
  readonly base: string;
  readonly agent: string;
  readonly from: Skill["from"];
}

const MAX_SKILLS = 200;
const MAX_DESCRIPTION_CHARS = 1_024;
const NAME = /^[a-z0-9][\w.-]{0,63}$/i;
const MAIN = "SKILL.md";

function skillsIn(place: Place): Skill[] {
  const folder = `${place.agent}/skills`;
  try {
    return readdirSync(join(place.base, folder))
      .filter((name) => NAME.test(name))
      .sort()
      .slice(0, MAX_SKILLS)
      .flatMap((name) => loadSkill(place, `${folder}/${name}`, name) ?? []);
  } catch {
    return [];
  }
}

function loadSkill({ base, from }: Place, path: string, name: string): Skill | undefined {
  const shown = from === "user" ? `~/${path}` : path;
  const about = { name, from, shown, waitsForTrust: false };
  const without = (folder: string, problem: string): Skill => ({
    ...about,
    ...{ folder, problem, description: "", files: [], head: { fields: new Map(), body: "" } },
  });
  let folder: string;
  let root: string;
  try {
    folder = realpathSync(join(base, path));
    root = realpathSync(base);
  } catch {
    return undefined;
  }
  if (from === "project" && !isWithin(root, folder))
    return without(folder, "it is a link that leads out of the project");
  const main = readSkillFile(folder, MAIN);
  if (!main) return undefined;
  const scanned = scanSkillFolder(folder);
  if (typeof scanned === "string") return without(folder, scanned);
  const text = main.toString("utf8");
  const head = parseFrontMatter(text);
  const { files, hash } = scanned;
  const description = toOneLine((textField(head, "description") ?? "").trim().replace(/\s+/g, " "));
  if (description === "") return without(folder, "its SKILL.md has no description");
  return {
    ...about,
    ...{ folder, files, head, description: description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed() },
    ...(from === "project" && { content: { folder: base, path, hash, text: toReviewed(text, files) } }),
  };
}

/** The text that the person reads before they trust the skill. */
function toReviewed(text: string, files: readonly SkillFile[]): string {
  const others = files.filter(({ path }) => path !== MAIN);
  const list = others.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(", ");
  return others.length === 0
    ? text
    : `${text.trimEnd()}\n\n[files beside it, which the agent may run: ${list}]\n`;
}
