import type { Line } from "../styled.ts";
import { BlockSplitter } from "./blocks.ts";
import { type Highlighter, plainLines } from "./highlight.ts";
import { type BlockContext, renderBlocks } from "./render-block.ts";

/** Lines of a growing block that a preview is drawn from; more than it shows, because some join into one row. */
const PREVIEW_LINES = 48;

export type MdRendererOptions = { width: number; highlight?: Highlighter };

/**
 * Renders streamed Markdown. Finished blocks are returned once and never change; `preview` shows the rest. Any chunks
 * of the text give the same lines.
 */
export class MdRenderer {
  readonly #splitter = new BlockSplitter();
  #context: BlockContext;
  #partialLine = "";
  #started = false;
  /** Until the text grows; keys and the spinner redraw more often than that. */
  #preview: Line[] | undefined;

  constructor({ width, highlight = (code) => plainLines(code) }: MdRendererOptions) {
    this.#context = { width, highlight };
  }

  /** Renders from now on for another width. */
  resize(width: number): void {
    if (width === this.#context.width) return;
    this.#context = { ...this.#context, width };
    this.#preview = undefined;
  }

  /** Handles the next chunk of text; returns the lines of the completed blocks. */
  renderChunk(chunk: string): Line[] {
    this.#preview = undefined;
    this.#partialLine += chunk;
    if (!chunk.includes("\n")) return [];
    const lines = this.#partialLine.split("\n");
    this.#partialLine = lines.pop() ?? "";
    return this.#emit(lines.flatMap((line) => this.#splitter.push(withoutReturn(line))));
  }

  /** Ends the text; returns the remaining lines. */
  flush(): Line[] {
    const last = this.#partialLine;
    this.#partialLine = "";
    this.#preview = undefined;
    const blocks = last === "" ? [] : this.#splitter.push(withoutReturn(last));
    const lines = this.#emit([...blocks, ...this.#splitter.finish()]);
    this.#started = false;
    return lines;
  }

  /** The last rows of the block that is still growing, as they look now. */
  preview(rows: number): Line[] {
    this.#preview ??= this.#renderTail();
    return this.#preview.slice(-rows);
  }

  /** Drawn in every frame, so its cost must not grow with the block. */
  #renderTail(): Line[] {
    const { lines, isWhole } = this.#splitter.tail(PREVIEW_LINES);
    const partial = this.#partialLine.slice(-PREVIEW_LINES * this.#context.width);
    const source = (partial === "" ? lines : [...lines, partial]).join("\n");
    if (source.trim() === "") return [];
    const rendered = renderBlocks(source, this.#context);
    return this.#started && isWhole && rendered.length > 0 ? [[], ...rendered] : rendered;
  }

  #emit(blocks: readonly string[]): Line[] {
    return blocks.flatMap((block) => {
      const lines = renderBlocks(block, this.#context);
      if (lines.length === 0) return [];
      const separated: Line[] = this.#started ? [[], ...lines] : lines;
      this.#started = true;
      return separated;
    });
  }
}

const withoutReturn = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
