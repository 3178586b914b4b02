import type { ToolDefinition } from "../api-client.ts";
import { textParts } from "../messages.ts";
import { toFailure } from "../run-calls.ts";
import { estimateTokens } from "../tokens.ts";
import type { CallStep, ToolCall, ToolExecutor, ToolResult, ToolSource } from "../tool-executor.ts";

/** The budget in tokens for definitions of other tools; beyond it tools are found by search. */
const BUDGET_TOKENS = 8_000;
const MAX_FOUND = 8;
const SEARCH: ToolDefinition = {
  name: "find_tools",
  description:
    "Finds further tools by words, such as those of MCP servers. What it finds can be called from the next step on.",
  input_schema: {
    type: "object",
    properties: { query: { type: "string", description: "Words from the tool's name or purpose" } },
    required: ["query"],
  },
};

export interface ExecutorOptions {
  readonly own: ToolSource & Pick<ToolExecutor, "afterEdits">;
  /** Such as the tools of MCP servers. */
  readonly further?: readonly ToolSource[];
  /** Understood when the model calls them, and offered nowhere. */
  readonly unlisted?: ToolSource;
  /** The life of a call, the outermost first; the tool itself comes last. */
  readonly steps?: readonly CallStep[];
  readonly budgetTokens?: number;
}

/**
 * Runs every call through the same steps. Own tools are offered first, then others as far as the budget allows; the rest
 * is loaded when found by search. The order never changes.
 */
export function createToolExecutor(options: ExecutorOptions): ToolExecutor {
  const { own, further = [], unlisted, steps = [], budgetTokens = BUDGET_TOKENS } = options;
  const offered: ToolDefinition[] = [];
  const isOffered = (name: string) => offered.some((one) => one.name === name);
  const all = () => further.flatMap((tools) => tools.definitions());
  const add = (definitions: readonly ToolDefinition[]) =>
    offered.push(...definitions.filter(({ name }) => !isOffered(name)));
  let spent = 0;

  const definitions = () => {
    add(own.definitions());
    for (const one of all()) {
      if (isOffered(one.name)) continue;
      const tokens = estimateTokens(JSON.stringify(one));
      if (spent + tokens > budgetTokens) add([SEARCH]);
      else {
        spent += tokens;
        add([one]);
      }
    }
    return [...offered];
  };
  const ownerOf = (name: string) =>
    [own, ...further, ...(unlisted ? [unlisted] : [])].find((tools) =>
      tools.definitions().some((one) => one.name === name),
    );

  const search = ({ input }: ToolCall): ToolResult => {
    const words =
      String(input["query"] ?? "")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) return toFailure("INVALID_ARGUMENT", "query: expected some words");
    const scored = all()
      .map((one) => {
        const text = `${one.name} ${one.description}`.toLowerCase();
        return { one, score: words.filter((word) => text.includes(word)).length };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_FOUND);
    if (scored.length === 0) return { content: textParts("no tool fits these words"), is_error: false };
    add(scored.map(({ one }) => one));
    const lines = scored.map(({ one }) => `${one.name}: ${one.description}`);
    return {
      content: textParts(`${lines.join("\n")}\nThese can be called from the next step on.`),
      is_error: false,
    };
  };

  /** The real name and arguments; a tool of another source may have a name that is an alias of ours. */
  const resolve = (call: ToolCall): ToolCall =>
    further.some((tools) => tools.definitions().some(({ name }) => name === call.name))
      ? call
      : (unlisted?.resolve?.(own.resolve?.(call) ?? call) ?? own.resolve?.(call) ?? call);
  const outline: ToolExecutor["outline"] = (call) =>
    ownerOf(call.name)?.outline(call) ?? { title: call.name, kind: "search", reads_only: true, paths: [] };
  const run: ToolExecutor["execute"] = async (call, given) => {
    const owner = ownerOf(call.name);
    if (owner) return owner.execute(call, given);
    return call.name === SEARCH.name
      ? search(call)
      : toFailure("UNKNOWN_TOOL", `there is no tool '${call.name}'`);
  };

  return {
    definitions,
    knows: (name) => isOffered(name) || ownerOf(name) !== undefined,
    resolve,
    outline,
    execute: (call, given) =>
      steps.reduceRight<(call: ToolCall) => Promise<ToolResult>>(
        (next, step) => (now) => step(now, outline(now), next),
        (now) => run(now, given),
      )(call),
    ...(own.afterEdits && { afterEdits: own.afterEdits }),
  };
}
