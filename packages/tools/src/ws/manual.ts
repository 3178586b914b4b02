import { type AnyAction, actionOf, type Registry, type Tool, toolOf } from "@octant/core";
import { z } from "zod";

/** The parameter of help and schema: MCP's flat schema reserves `action` for the called action. */
export const About = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe("A tool, or an action such as fs.read; default all");

export interface Subject {
  readonly tool: Tool;
  readonly name: string;
  readonly act: AnyAction;
}

/** The selected actions, in the registry's order, or the typed error that lists the valid names. */
export function subjectsOf(registry: Registry, about: string | undefined): Subject[] {
  if (about === undefined) return registry.list().flatMap(allOf);
  const { tool, name } = parseAbout(registry, about);
  return name === undefined ? allOf(tool) : [{ tool, name, act: actionOf(tool, name) }];
}

export function parseAbout(registry: Registry, about: string): { tool: Tool; name: string | undefined } {
  const dot = about.indexOf(".");
  const tool = toolOf(registry.list(), dot < 0 ? about : about.slice(0, dot));
  return { tool, name: dot < 0 ? undefined : about.slice(dot + 1) };
}

const allOf = (tool: Tool): Subject[] =>
  Object.entries(tool.actions).map(([name, act]) => ({ tool, name, act }));
