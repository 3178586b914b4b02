import { defineTool } from "@octant/core";
import { capabilities } from "./capabilities.ts";
import { detect } from "./detect.ts";
import { help, schema } from "./manual.ts";
import type { WsOptions } from "./options.ts";
import { skill } from "./skill.ts";

export type { WsOptions } from "./options.ts";
export type { SkillSource } from "./skill.ts";

/** The project and the tools themselves: where an agent starts. */
export const ws = (options: WsOptions) =>
  defineTool({
    name: "ws",
    summary: "Learn what the project is and what these tools can do.",
    actions: {
      detect: detect(options),
      capabilities: capabilities(options),
      skill: skill(options.skills),
      help: help(options),
      schema: schema(options),
    },
  });
