import { action, ToolError } from "@octant/core";
import { pathToUri } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

/** Folders with instructions for a kind of task. */
export interface SkillSource {
  list(isRemote: boolean): readonly SkillInfo[];
  /** Throws NOT_FOUND, NOT_TEXT or UNTRUSTED_CONFIG. `uri` is the place of the file. */
  load(
    name: string,
    path: string,
    isRemote: boolean,
  ): { readonly skill: SkillInfo; readonly uri: string; readonly text: string };
}

export interface SkillInfo {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly files: readonly { readonly path: string }[];
}

const MAIN = "SKILL.md";
const MAX_LISTED = 100;
const MAX_CHARS = 1_000;

export const skill = (skills: SkillSource | undefined) =>
  action({
    summary:
      "Read a skill: instructions for a kind of task, and the files beside them. Lists all without a name.",
    ...INSPECT,
    listing: "brief",
    leavesOut: true,
    input: z.strictObject({
      name: z.string().min(1).max(MAX_CHARS).optional(),
      path: z.string().min(1).max(MAX_CHARS).default(MAIN).describe("A file of the skill"),
    }),
    output: z.object({
      skills: z.array(z.object({ name: z.string(), description: z.string() })).optional(),
      folder: z.string().optional().describe("Commands can run its scripts from there"),
      text: z.string().optional(),
      files: z.array(z.string()).optional(),
    }),
    errors: ["NOT_FOUND", "NOT_TEXT", "UNTRUSTED_CONFIG"],
    examples: [
      { title: "List the skills", input: {} },
      { title: "Read one", input: { name: "pdf" }, fails: "NOT_FOUND" },
    ],
    text({ skills: all, folder, text, files = [] }) {
      if (all) return { body: all.map((one) => `${one.name}: ${one.description}`).join("\n") || "no skills" };
      const others = files.filter((path) => path !== MAIN);
      return {
        body: text ?? "",
        notes: [`folder ${folder}`, others.length > 0 && `files ${others.join(", ")}`],
      };
    },
    run({ name, path }, ctx) {
      const isRemote = ctx.caller.remote === true;
      if (name === undefined) {
        const all = skills?.list(isRemote) ?? [];
        return { skills: all.map((one) => ({ name: one.name, description: one.description })) };
      }
      if (!skills) throw new ToolError("NOT_FOUND", "there are no skills here", {});
      const found = skills.load(name, path, isRemote);
      const rule = ctx.hides(pathToUri(found.uri));
      if (rule !== undefined)
        throw new ToolError("NOT_FOUND", `a rule hides ${path} of the skill ${name}`, {});
      const { folder, files } = found.skill;
      return { folder, text: found.text, files: files.slice(0, MAX_LISTED).map((file) => file.path) };
    },
  });
