import { toOneLine } from "@octant/core";
import { type Line, span, truncate, widthOf } from "./styled.ts";

/** A list from which the person chooses a line to run. */
export type Pick = {
  title: string;
  items: readonly { line: string; label: string; detail?: string }[];
};

/** A menu takes all keys: it answers with a line to run, "closed", or undefined while it stays open. */
export interface AppMenu {
  key(key: string): { line: string } | "closed" | undefined;
  view(width: number): Line[];
}

const MAX_SHOWN = 10;

/** A list that typed words filter. */
export class PickMenu implements AppMenu {
  readonly #pick: Pick;
  #words = "";
  #chosen = 0;

  constructor(pick: Pick) {
    this.#pick = pick;
  }

  key(key: string): { line: string } | "closed" | undefined {
    const found = this.#found();
    if (key === "Enter") return found[this.#chosen];
    if (["Escape", "Alt-Escape", "Ctrl-C"].includes(key)) return "closed";
    if (key === "Up" || key === "Down") {
      const to = this.#chosen + (key === "Up" ? -1 : 1);
      this.#chosen = Math.min(Math.max(to, 0), Math.max(found.length - 1, 0));
      return undefined;
    }
    if (key === "Backspace") this.#words = this.#words.slice(0, -1);
    else if (key === "Ctrl-U") this.#words = "";
    else if ([...key].length === 1) this.#words += key;
    this.#chosen = 0;
    return undefined;
  }

  view(width: number): Line[] {
    const found = this.#found();
    const first = Math.min(Math.max(this.#chosen - MAX_SHOWN + 2, 0), Math.max(found.length - MAX_SHOWN, 0));
    const shown = found.slice(first, first + MAX_SHOWN);
    const column = Math.min(Math.max(...shown.map(({ label }) => widthOf(toOneLine(label))), 0), width - 20);
    const rows = shown.map(({ label, detail = "" }, i) => {
      const isChosen = first + i === this.#chosen;
      const name = truncate([span(toOneLine(label), { bold: isChosen })], column);
      const gap = " ".repeat(Math.max(column - widthOf(toOneLine(label)), 0) + 2);
      return truncate(
        [
          span(isChosen ? "› " : "  ", { role: "accent" }),
          ...name,
          span(`${gap}${toOneLine(detail)}`, { role: "muted" }),
        ],
        width,
      );
    });
    const count = `${found.length} of ${this.#pick.items.length}`;
    const help = `${count} · ${this.#words === "" ? "type to search" : `search: ${toOneLine(this.#words)}`} · Enter chooses, Esc stays`;
    const title = [span(this.#pick.title, { role: "warning", bold: true })];
    return [title, ...rows, truncate([span(help, { role: "muted" })], width)];
  }

  #found(): Pick["items"] {
    const words = this.#words.toLowerCase().split(/\s+/);
    return this.#pick.items.filter(({ label, detail = "" }) =>
      words.every((word) => `${label} ${detail}`.toLowerCase().includes(word)),
    );
  }
}
