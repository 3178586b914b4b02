/** Markdown as a tree of our own: a view turns each node into one element, and nothing else can appear. */
export type Block =
  | { readonly type: "heading"; readonly level: number; readonly content: readonly Inline[] }
  | { readonly type: "paragraph"; readonly content: readonly Inline[] }
  | { readonly type: "code"; readonly language: string; readonly text: string }
  | { readonly type: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly type: "list";
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly ListItem[];
    }
  | {
      readonly type: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly type: "rule" };

export interface ListItem {
  /** For a task: whether it is done. */
  readonly checked?: boolean | undefined;
  readonly blocks: readonly Block[];
}

export type Inline =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "break" }
  | { readonly type: "strong" | "emphasis" | "strike"; readonly content: readonly Inline[] }
  /** Always http or https; the host is shown next to a text that does not name it. */
  | {
      readonly type: "link";
      readonly href: string;
      readonly host: string;
      readonly content: readonly Inline[];
    };

/** The text of inline nodes, without their styles. */
export const textOf = (content: readonly Inline[]): string =>
  content
    .map((node) => {
      if (node.type === "break") return "\n";
      return "text" in node ? node.text : textOf(node.content);
    })
    .join("");
