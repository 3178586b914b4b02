import type { Line } from "../styled.ts";
import { BlockSplitter } from "./blocks.ts";
import { plainLines } from "./highlight.ts";
import { type BlockContext, type Highlighter, renderBlocks } from "./render-block.ts";

export type MdRendererOptions = { width: number; highlight?: Highlighter };

/**
 * Renders Markdown as it streams in. Finished blocks come out once and never change; `preview` shows the rest.
 * Any way of cutting the text into chunks gives the same lines.
 */
export class MdRenderer {
  readonly #splitter = new BlockSplitter();
  readonly #context: BlockContext;
  #partialLine = "";
  #started = false;

  constructor({ width, highlight = (code) => plainLines(code) }: MdRendererOptions) {
    this.#context = { width, highlight };
  }

  /** Takes the next piece of text; returns the lines of the blocks that it completed. */
  renderChunk(chunk: string): Line[] {
    const lines = (this.#partialLine + chunk).split("\n");
    this.#partialLine = lines.pop() ?? "";
    return this.#emit(lines.flatMap((line) => this.#splitter.push(withoutReturn(line))));
  }

  /** Ends the text; returns the lines that were not complete. */
  flush(): Line[] {
    const last = this.#partialLine;
    this.#partialLine = "";
    const blocks = last === "" ? [] : this.#splitter.push(withoutReturn(last));
    const lines = this.#emit([...blocks, ...this.#splitter.finish()]);
    this.#started = false;
    return lines;
  }

  /** The block that is still growing, as it looks now. */
  preview(): Line[] {
    const source = [this.#splitter.unfinished, this.#partialLine].filter((part) => part !== "").join("\n");
    if (source.trim() === "") return [];
    const lines = renderBlocks(source, this.#context);
    return this.#started && lines.length > 0 ? [[], ...lines] : lines;
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
