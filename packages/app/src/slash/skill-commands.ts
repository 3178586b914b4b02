import { textField, withArguments } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { OpenedAgent } from "../agent/open-agent.ts";
import { findSkills, ignoredFields, isForPerson, SKILL_FIELDS, type Skill } from "../skills/find-skills.ts";
import { waiting } from "../skills/skill-source.ts";
import type { SlashCommand } from "./slash-command.ts";

type Opened = Pick<OpenedAgent, "octant" | "env">;

const skillsOf = ({ octant, env }: Opened): readonly Skill[] =>
  findSkills({ roots: octant.workspace.confinement.roots, env });

export const skills: SlashCommand = {
  name: "skills",
  onlyWithLocalTools: true,
  summary: "List the skills of you and the project, and why one has no effect",
  run(_, { opened }) {
    const lines = skillsOf(opened).map((skill) => `- **${skill.name}** ${describe(skill)}`);
    return {
      text:
        lines.join("\n") ||
        "no skills; a folder with a SKILL.md in `.claude/skills`, `.agents/skills` or `.hanzo/skills`, here or in your home, is one",
    };
  },
};

function describe(skill: Skill): string {
  const { description, shown, problem, waitsForTrust } = skill;
  const place = `\`${toOneLine(shown)}\``;
  if (problem !== undefined) return `${place} has no effect: ${toOneLine(problem)}`;
  if (waitsForTrust) return `${place} has no effect until you trust it: \`octant trust\``;
  const ignored = ignoredFields(skill, SKILL_FIELDS);
  return `${description} (${place}${ignored.length > 0 ? `; ignored: ${toOneLine(ignored.join(", "))}` : ""})`;
}

/** `/name` sends the instructions of the skill, with the text after the name. */
export const skillCommands = (opened: Opened): readonly SlashCommand[] =>
  skillsOf(opened)
    .filter((skill) => skill.problem === undefined && isForPerson(skill))
    .map((skill) => ({
      name: skill.name,
      argument: toOneLine(textField(skill.head, "argument-hint") ?? "[TEXT]"),
      summary: skill.waitsForTrust ? `${skill.shown}, which you do not trust yet` : skill.description,
      run(argument) {
        if (skill.waitsForTrust) throw waiting(skill);
        return { send: `${toBeginning(skill)}\n\n${withArguments(skill.head.body, argument)}` };
      },
    }));

const toBeginning = ({ name, folder, files }: Skill): string => {
  const others = files.map(({ path }) => path).filter((path) => path !== "SKILL.md");
  const beside =
    others.length === 0 ? "" : `; ws.skill reads its files by path: ${others.slice(0, MAX_FILES).join(", ")}`;
  return `Follow the skill ${name} (folder ${folder}${beside}):`;
};

const MAX_FILES = 50;
