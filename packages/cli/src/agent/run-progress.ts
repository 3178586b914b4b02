import { styleText } from "node:util";
import type { AgentEvent } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { Io } from "../command.ts";

/** Shows the work of a headless agent on stderr, one line at a time. */
export function createProgressLines({ stderr }: Pick<Io, "stderr">): (event: AgentEvent) => void {
  const dim = (text: string) => styleText("dim", text, { stream: stderr });
  const write = (text: string) => stderr.write(`${text}\n`);
  return (event) => {
    switch (event.type) {
      case "tool_began":
        write(dim(`• ${toOneLine(event.title)}`));
        break;
      case "tool_ended":
        if (event.is_error) write(dim(`  ${event.code ?? "failed"}: ${firstLine(event.content)}`));
        break;
      case "retry":
        write(dim(`  ${toOneLine(event.reason)}; trying again in ${(event.delay_ms / 1_000).toFixed(1)} s`));
        break;
      case "compaction":
        write(dim(`  compacted: ${event.tokens_before} → ${event.tokens_after} tokens`));
        break;
      case "notice":
        write(dim(`  ${toOneLine(event.text)}`));
        break;
    }
  };
}

const firstLine = (content: readonly { readonly type: string; readonly text?: string }[]): string => {
  const text = content.find(({ type }) => type === "text")?.text ?? "";
  const [line = ""] = text.replace(/^[A-Z_]+: /, "").split("\n", 1);
  return toOneLine(line);
};
