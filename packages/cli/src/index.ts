export * from "./octant.ts";
export type { ToolChoice, ToolConfig } from "./tool-choice.ts";
