import { expect, test } from "vitest";
import type { StampedEvent } from "../events.ts";
import { exportHtml, exportMarkdown } from "./export.ts";

const STAMP = { session_id: "ses_1", at: "2026-11-18T10:00:00.000Z" };
const NAME = "new \u202Egpj.md\u200B";
const text = (words: string) => [{ type: "text", text: words }] as const;
/** The fields that an export does not read are left out. */
const EVENTS = [
  { ...STAMP, seq: 1, type: "title", title: NAME },
  { ...STAMP, seq: 2, type: "user", origin: "person", content: text(`one\n${NAME}`) },
  { ...STAMP, seq: 3, type: "message", message: { role: "assistant", content: text(NAME) } },
  { ...STAMP, seq: 4, type: "tool_began", call_id: "c", title: `fs.write ${NAME}` },
  { ...STAMP, seq: 5, type: "tool_ended", call_id: "c", name: "fs", content: text(NAME), is_error: false },
] as unknown as readonly StampedEvent[];

test.each([
  ["HTML", exportHtml(EVENTS, (markdown) => markdown)],
  ["Markdown", exportMarkdown(EVENTS)],
])("characters that hide or reorder text are shown as their codes in %s", (_format, file) => {
  expect(file).not.toMatch(/[\u202E\u200B]/);
  expect(file.match(/\\u\{202e\}gpj\.md\\u\{200b\}/g)?.length).toBeGreaterThanOrEqual(5);
});
