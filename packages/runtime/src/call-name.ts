import type { CheckedCall } from "@octant/core";

/** The name of a call in rules, hooks and the audit log: `fs.read`, or the full name of an MCP server's tool. */
export const nameOf = ({ tool, name }: CheckedCall): string =>
  tool.name.startsWith("mcp__") ? tool.name : `${tool.name}.${name}`;
