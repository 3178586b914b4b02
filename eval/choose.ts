// Which projects are asked about, and which half of them each belongs to.
import { createHash } from "node:crypto";
import type { EvalLanguage, Project } from "./projects.ts";
import { findProjects } from "./projects.ts";
import { askAbout, isCallable, type QuestionSet } from "./questions.ts";

export const EVAL_LANGUAGES: readonly EvalLanguage[] = ["typescript and javascript", "python", "go"];

export type Half = "tuning" | "reporting";

export interface Choice {
  readonly half: Half;
  readonly projectsPerLanguage: number;
}

const MIN_FILES = 5;
const MAX_FILES = 400;
/** Fewer would be easy to tell apart, and few questions say little. */
const MIN_FUNCTIONS = 300;
const MIN_QUESTIONS = 20;

/** Projects of one half, in an order that has nothing to do with what they hold. */
export async function* chooseProjects(
  repository: string,
  { half, projectsPerLanguage }: Choice,
): AsyncGenerator<QuestionSet> {
  const projects = findProjects(repository)
    .filter(({ name, files }) => files.length >= MIN_FILES && halfOf(name) === half)
    .sort((a, b) => (digest(a.name) < digest(b.name) ? -1 : 1));
  for (const language of EVAL_LANGUAGES) {
    const taken = new Set<string>();
    for (const project of projects) {
      if (project.language !== language || taken.has(project.name)) continue;
      if (taken.size >= projectsPerLanguage) break;
      const set = await askAbout(shortened(project));
      const functions = set.sources.reduce((sum, { symbols }) => sum + symbols.filter(isCallable).length, 0);
      if (functions < MIN_FUNCTIONS || set.questions.length < MIN_QUESTIONS) continue;
      taken.add(project.name);
      yield set;
    }
  }
}

const shortened = (project: Project): Project => ({ ...project, files: project.files.slice(0, MAX_FILES) });

const digest = (name: string) => createHash("sha256").update(name).digest("hex");

export const halfOf = (name: string): Half =>
  Number.parseInt(digest(name).slice(0, 8), 16) % 2 ? "tuning" : "reporting";
