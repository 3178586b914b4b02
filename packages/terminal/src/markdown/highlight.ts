import type { createLowlight } from "lowlight";
import type { Role } from "../paint.ts";
import type { Line, Span, Style } from "../styled.ts";

export type Highlighter = (code: string, language: string) => Line[];

type Lowlight = ReturnType<typeof createLowlight>;
type Tree = ReturnType<Lowlight["highlight"]>;
type TreeNode = Tree["children"][number];

const MAX_HIGHLIGHTED_BYTES = 64 * 1024;

const ROLE_OF: Readonly<Record<string, Role>> = {
  keyword: "keyword",
  built_in: "type",
  type: "type",
  literal: "number",
  number: "number",
  string: "string",
  regexp: "string",
  comment: "comment",
  doctag: "comment",
  title: "name",
  name: "name",
  attr: "name",
  attribute: "name",
  property: "name",
  section: "heading",
  addition: "added",
  deletion: "removed",
  meta: "muted",
};

/** No answer comes sooner, and the prompt need not wait for the grammars. */
const LOAD_AFTER_MS = 300;

/** Colours code once the grammars are loaded; plain until then. */
export function loadHighlighter(): Highlighter {
  let lowlight: Lowlight | undefined;
  const load = () =>
    void import("lowlight").then(
      ({ common, createLowlight }) => {
        lowlight = createLowlight(common);
      },
      () => {},
    );
  setTimeout(load, LOAD_AFTER_MS).unref();
  return (code, language) => (lowlight ? highlight(lowlight, code, language) : plainLines(code));
}

/** Unknown languages and large texts stay plain. */
export function highlight(lowlight: Lowlight, code: string, language: string): Line[] {
  if (!lowlight.registered(language) || code.length > MAX_HIGHLIGHTED_BYTES) return plainLines(code);
  const lines: Span[][] = [[]];
  for (const child of lowlight.highlight(language, code).children) append(child, {}, lines);
  return lines;
}

export const plainLines = (code: string): Line[] =>
  code.split("\n").map((text) => (text === "" ? [] : [{ text, style: {} }]));

function append(node: TreeNode, style: Style, lines: Span[][]): void {
  if (node.type === "text") {
    const [first = "", ...rest] = node.value.split("\n");
    if (first !== "") lines.at(-1)!.push({ text: first, style });
    for (const text of rest) lines.push(text === "" ? [] : [{ text, style }]);
    return;
  }
  if (node.type !== "element") return;
  const names = Array.isArray(node.properties["className"]) ? node.properties["className"] : [];
  const role = names.map((name) => ROLE_OF[String(name).replace(/^hljs-/, "")]).find(Boolean);
  const own = role ? { ...style, role } : style;
  for (const child of node.children) append(child, own, lines);
}
