import { textParts } from "../messages.ts";
import type { ExecuteOptions, ToolCall, ToolExecutor, ToolResult } from "../tool-executor.ts";

export type TestTool = (
  input: ToolCall["input"],
  options: ExecuteOptions,
) => Promise<ToolResult | string> | ToolResult | string;

/** Tools made of functions; those whose name starts with `read` are read-only. */
export const createTestTools = (tools: Readonly<Record<string, TestTool>>): ToolExecutor => ({
  definitions: () =>
    Object.keys(tools).map((name) => ({
      name,
      description: `The tool ${name}.`,
      input_schema: { type: "object", properties: {} },
    })),
  outline: ({ name }) => ({
    title: name,
    kind: name.startsWith("read") ? "read" : "edit",
    reads_only: name.startsWith("read"),
    paths: [],
  }),
  async execute({ name, input }, options) {
    const result = await tools[name]?.(input, options);
    return typeof result === "object" ? result : { content: textParts(result ?? ""), is_error: false };
  },
});
