import type { PackContext, Tool } from "@octant/core";
import { hanzo } from "./hanzo.ts";
import type { Settings } from "./settings.ts";

export { settings } from "./settings.ts";

export const tools = (context: PackContext<Settings>): readonly Tool[] => [hanzo(context)];
