export {
  createOctant,
  type HttpServing,
  INSTRUCTIONS,
  LOCAL_CALLER,
  type Octant,
  type OctantOptions,
  type OwnTool,
  type Topics,
} from "./octant.ts";
export type { ToolChoice, ToolConfig } from "./tool-choice.ts";
