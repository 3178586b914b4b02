import { toOneLine } from "@octant/core";
import type { AppMenu } from "./pick-menu.ts";
import { type Line, span, truncate } from "./styled.ts";

const MAX_SHOWN = 8;

/** The parts to rewind: the conversation, the files that the agent changed since, or both. */
type RewindScope = "both" | "conversation" | "files";

const KEYS: Readonly<Record<string, RewindScope>> = { Enter: "both", c: "conversation", f: "files" };

/** A list of the person's earlier messages, one of which is chosen to rewind to. */
export class RewindMenu implements AppMenu {
  readonly #prompts: readonly string[];
  #chosen: number;

  /** `prompts` is oldest first. */
  constructor(prompts: readonly string[]) {
    this.#prompts = prompts;
    this.#chosen = prompts.length - 1;
  }

  key(key: string): { line: string } | "closed" | undefined {
    const scope = KEYS[key];
    // 1 is the last message.
    if (scope) return { line: `/rewind ${this.#prompts.length - this.#chosen} ${scope}` };
    if (["Escape", "Alt-Escape", "Ctrl-C", "q"].includes(key)) return "closed";
    const by = { Up: -1, k: -1, Down: 1, j: 1 }[key] ?? 0;
    this.#chosen = Math.min(Math.max(this.#chosen + by, 0), this.#prompts.length - 1);
    return undefined;
  }

  view(width: number): Line[] {
    const first = Math.min(
      Math.max(this.#chosen - MAX_SHOWN + 2, 0),
      Math.max(this.#prompts.length - MAX_SHOWN, 0),
    );
    const rows = this.#prompts.slice(first, first + MAX_SHOWN).map((prompt, i) => {
      const isChosen = first + i === this.#chosen;
      return truncate(
        [span(isChosen ? "› " : "  ", { role: "accent" }), span(toOneLine(prompt), { bold: isChosen })],
        width,
      );
    });
    const title = [span("Go back to before which message?", { role: "warning", bold: true })];
    const help = "Enter conversation and files, c conversation only, f files only, Esc stays";
    return [title, ...rows, truncate([span(help, { role: "muted" })], width)];
  }
}
