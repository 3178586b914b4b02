import { Tokenizer } from "htmlparser2";

export type Attributes = Readonly<Record<string, string>>;

/** Receives the tags and texts of a document in order. */
export interface TagHandler {
  open(name: string, attributes: Attributes, isEmpty: boolean): void;
  close(name: string): void;
  text(text: string): void;
  /** Called when a tag exceeds the limits below; what follows of it is still delivered. */
  tooLarge?(): void;
}

export const MAX_VALUE_CHARS = 1_048_576;
export const MAX_ATTRIBUTES = 1_000;

/**
 * Splits HTML or XML into tags and texts, in linear time. The source is written in one piece or in several. The
 * library's own parser keeps open elements in an array that it shifts, which takes minutes for a deep page. Entities
 * that a document declares are not expanded, so they can neither grow nor reach files.
 */
export function createTagReader(source: string, format: "html" | "xml", handler: TagHandler): Tokenizer {
  const xmlMode = format === "xml";
  const sliceName = (start: number, end: number) => {
    const name = source.slice(start, end);
    return xmlMode ? name : name.toLowerCase();
  };
  let name = "";
  let attributes: Record<string, string> = {};
  let count = 0;
  let attribute = "";
  let value = "";
  const addValue = (text: string) => {
    value += text;
    if (value.length > MAX_VALUE_CHARS) handler.tooLarge?.();
  };
  const nothing = () => {};
  return new Tokenizer(
    { decodeEntities: true, xmlMode },
    {
      onopentagname(start, end) {
        name = sliceName(start, end);
        attributes = Object.create(null);
        count = 0;
      },
      onattribname(start, end) {
        attribute = sliceName(start, end);
        value = "";
        if (++count > MAX_ATTRIBUTES) handler.tooLarge?.();
      },
      onattribdata: (start, end) => addValue(source.slice(start, end)),
      onattribentity: (codePoint) => addValue(String.fromCodePoint(codePoint)),
      onattribend() {
        attributes[attribute] ??= value;
      },
      onopentagend: () => handler.open(name, attributes, false),
      onselfclosingtag: () => handler.open(name, attributes, true),
      onclosetag: (start, end) => handler.close(sliceName(start, end)),
      ontext: (start, end) => handler.text(source.slice(start, end)),
      ontextentity: (codePoint) => handler.text(String.fromCodePoint(codePoint)),
      oncdata: (start, end, markChars) => xmlMode && handler.text(source.slice(start, end - markChars)),
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
}
