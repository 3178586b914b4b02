import { createToolNames } from "@octant/mcp-client";

const names = createToolNames();
console.log(names.nameOf("weather", "get forecast"));
