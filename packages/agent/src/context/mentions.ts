import { type TextPart, textParts, type UserPart } from "../messages.ts";

/** `@src/a.ts`, `@"a file.txt"`: at the start or after a space, so that mail addresses do not match. */
const MENTION = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"]+))/g;
const MAX_MENTIONS = 20;

/**
 * A message followed by the content of its mentions. `read` returns the content of a path, or undefined when there is
 * none; such a mention stays plain text.
 */
export async function expandMentions(
  text: string,
  read: (path: string) => Promise<readonly UserPart[] | undefined>,
): Promise<readonly UserPart[]> {
  const names = [...text.matchAll(MENTION)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const added: UserPart[] = [];
  for (const name of [...new Set(names)].slice(0, MAX_MENTIONS)) {
    // A sentence may end after the name.
    for (const path of [name, name.replace(/[.,;:!?)]+$/, "")]) {
      const parts = path === "" ? undefined : await read(path);
      if (!parts) continue;
      added.push(titled(path), ...parts);
      break;
    }
  }
  return [...textParts(text), ...added];
}

/** The person's text, without the content of mentioned files. */
export function withoutMentioned(content: readonly UserPart[]): readonly UserPart[] {
  const first = content.findIndex((part) => part.type === "text" && TITLE.test(part.text));
  return first === -1 ? content : content.slice(0, first);
}

const titled = (path: string): TextPart => ({
  type: "text",
  text: `\n\nContent of ${path}, which the message mentions:\n`,
});
const TITLE = /^\n\nContent of .+, which the message mentions:\n$/;
