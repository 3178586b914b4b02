import { counted } from "@octant/core";
import { type Line, lineWidth, type Span, span, truncate } from "../styled.ts";
import { type Choice, type Prompt, type QuestionView, viewChoices, viewQuestion } from "./question.ts";

/** How the question takes keys now. */
export type Listening = { isListening: boolean; chosen: Choice | undefined; isTyping: boolean };

/** The question on the screen: the part of it that fits, how much is hidden, and the choices. */
export class QuestionWindow {
  #shown: { prompt: Prompt; width: number; whole: QuestionView } | undefined;
  #top = 0;
  #rows = 1;
  /** How much of the question has been on the screen. */
  #read: "part" | "effect" | "all" = "part";

  /** At most `maxRows` high. */
  view(prompt: Prompt, width: number, maxRows: number, listening: Listening): Line[] {
    const { lines, effect } = this.whole(prompt, width);
    const choices = viewChoices(prompt, width, Math.max(Math.floor(maxRows / 3), 1));
    const room = Math.max(maxRows - choices.length, 1);
    this.#rows = lines.length <= room ? room : Math.max(room - 1, 1);
    this.#top = Math.max(Math.min(this.#top, lines.length - this.#rows), 0);
    const end = Math.min(this.#top + this.#rows, lines.length);
    if (end >= effect && this.#read === "part") this.#read = "effect";
    if (end === lines.length) this.#read = "all";
    const hidden = this.#hidden(lines.length - end, width);
    return [...lines.slice(this.#top, end), ...hidden, ...viewState(choices, listening, width)];
  }

  /** All of it, for a pager. */
  whole(prompt: Prompt, width: number): QuestionView {
    if (this.#shown?.prompt !== prompt) this.#read = "part";
    if (this.#shown?.prompt !== prompt || this.#shown.width !== width) {
      // In another width the same row is another part of the question.
      this.#top = 0;
      this.#shown = { prompt, width, whole: viewQuestion(prompt, width) };
    }
    return this.#shown.whole;
  }

  /** Returns false for a key that does not scroll. */
  key(key: string): boolean {
    const page = Math.max(this.#rows - 1, 1);
    const by = { Up: -1, Down: 1, PageUp: -page, PageDown: page }[key];
    if (by !== undefined) this.#top = Math.max(this.#top + by, 0);
    return by !== undefined;
  }

  /** Whether what the choice allows has been on the screen to its end; "always" includes the rule that it adds. */
  isRead({ answer }: Choice): boolean {
    if (answer === "always") return this.#read === "all";
    return !["once", "session", "accept"].includes(answer) || this.#read !== "part";
  }

  /** The person has seen it all elsewhere. */
  finish(): void {
    this.#read = "all";
  }

  /** How many lines are above and below. */
  #hidden(below: number, width: number): Line[] {
    if (this.#top === 0 && below === 0) return [];
    const above = this.#top > 0 ? `↑ ${this.#top} above` : "";
    const more = [above, below > 0 ? `↓ ${counted(below, "more line")} below` : ""]
      .filter(Boolean)
      .join(" · ");
    const ways = [
      `${more} · PageUp and PageDown scroll, Ctrl-O shows all`,
      `${more} · Ctrl-O shows all`,
      more,
      below > 0 ? `↓ ${below} more` : above,
    ];
    const fits = ways.find((text) => lineWidth([span(text)]) + 2 <= width) ?? ways.at(-1) ?? "";
    return [truncate([span("  "), span(fits, { role: "warning" })], width)];
  }
}

/** The choices as far as they can be chosen now; as high as they are. */
function viewState(choices: Line[], { isListening, chosen, isTyping }: Listening, width: number): Line[] {
  const filled = (text: Span): Line[] => [
    truncate([span("  "), text], width),
    ...choices.slice(1).map(() => []),
  ];
  if (isTyping) return [];
  if (!isListening) return filled(span("… keys go to your message until you pause", { role: "muted" }));
  if (!chosen) return choices;
  const confirm = chosen.answer === "always" ? "Enter confirms, Esc takes it back" : "Enter confirms at once";
  return filled(span(`[${chosen.key}] ${chosen.label} · ${confirm}`, { role: "accent", bold: true }));
}
