import { type Ask, type Questions, ToolError } from "@octant/core";
import type { Elicitation, ElicitationAnswer } from "@octant/mcp-client";

export interface ElicitOptions {
  readonly questions: Pick<Questions, "ask">;
  /** The id of the session whose person answers. */
  readonly caller: string;
  /** The front end of that session. */
  readonly ask: Ask | undefined;
  /** Receives the reason when a question is declined without a person. */
  log(line: string): void;
}

/** Asks the person the questions of MCP servers: to fill in a form, or to open an address. */
export const elicitFrom =
  ({ questions, caller, ask, log }: ElicitOptions) =>
  async ({ server, message, schema, url }: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> => {
    const decline = (why: string): ElicitationAnswer => {
      log(`the MCP server ${server} asked "${message}"; it was declined: ${why}`);
      return { action: "decline" };
    };
    if (url !== undefined && !isWebAddress(url)) return decline("its address is not an http or https URL");
    try {
      const outcome = await questions.ask(
        { kind: "form", server, message, schema, url },
        { action: `mcp__${server}`, caller, front: ask, signal },
      );
      if (outcome.answer === "unattended") return decline(outcome.reason ?? "no one is here to answer");
      const { answer, reason, content } = outcome;
      if (answer === "accept") return { action: answer, ...(schema && { content: { ...content } }) };
      if (answer === "cancel" && reason !== undefined) return decline(reason);
      return { action: answer === "cancel" ? answer : "decline" };
    } catch (cause) {
      if (cause instanceof ToolError && cause.code === "INVALID_ARGUMENT") return decline(cause.message);
      throw cause;
    }
  };

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
