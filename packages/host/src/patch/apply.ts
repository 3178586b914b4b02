import { ToolError } from "@octant/core";
import {
  type Edited,
  type FileChange,
  type HunkReport,
  type Match,
  patchFailed,
  type TextEdits,
} from "./change.ts";
import { applyBinary } from "./git-binary.ts";
import { editByHunks } from "./hunk-edits.ts";
import { toLines } from "./lines.ts";
import { editByStructure } from "./structured-edits.ts";
import { type TextForm, textFormsOf } from "./text-form.ts";

export interface Applied {
  readonly after: Buffer;
  readonly match: Match;
  readonly hunks: readonly HunkReport[];
}

/** Applies one change to a file's bytes; a create starts empty. Everything outside the change stays byte for byte. */
export function applyChange(before: Buffer, change: FileChange): Applied {
  if (change.kind === "create" && before.length > 0) {
    throw patchFailed("the patch creates this file, but it already exists; patch it as an update");
  }
  const { edits } = change;
  const applied =
    edits.form === "binary"
      ? ({ after: applyBinary(before, edits), match: "exact", hunks: [] } as const)
      : applyText(before, edits);
  if (change.kind !== "delete") return applied;
  const { after } = applied;
  const verifies = edits.form === "hunks" && edits.hunks.length > 0;
  if (verifies && !textFormsOf(after).some((form) => ["", form.bom].includes(form.decode(after))))
    throw patchFailed(
      "the patch deletes this file, but the file has lines that the patch does not; read it again",
    );
  return { ...applied, after: Buffer.alloc(0) };
}

/** Tries the file's likely encodings in turn; when all fail, the first failure is the most informative. */
function applyText(before: Buffer, edits: TextEdits): Applied {
  let failure: unknown;
  for (const form of textFormsOf(before)) {
    const encoded = encodeEdits(edits, form);
    if (encoded === undefined) continue;
    try {
      return applyInForm(before, encoded, form);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function applyInForm(before: Buffer, edits: TextEdits, form: TextForm): Applied {
  const decoded = form.decode(before);
  const bom = decoded.startsWith(form.bom) && !namesBom(edits, form.bom) ? form.bom : "";
  const lines = toLines(decoded.slice(bom.length));
  const { splices, match, hunks }: Edited =
    edits.form === "hunks"
      ? editByHunks(lines, edits.hunks, form.toDisplay)
      : editByStructure(lines, edits.edits, form);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of splices) {
    parts.push(lines.text.slice(at, start), text);
    at = end;
  }
  const text = bom + parts.join("") + lines.text.slice(at);
  return { after: form.encode(text), match, hunks };
}

/** Whether the patch itself contains a byte order mark, as git's diffs do; otherwise it is hidden from the patch. */
function namesBom(edits: TextEdits, bom: string): boolean {
  if (edits.form === "hunks")
    return edits.hunks.some(({ lines }) => lines.some(({ text }) => text.startsWith(bom)));
  return edits.edits.some((edit) => edit.op === "replace" && edit.old.startsWith(bom));
}

/** The edits with their texts in the file's form; undefined when a text has no such form. */
function encodeEdits(edits: TextEdits, form: TextForm): TextEdits | undefined {
  let possible = true;
  const encode = (text: string) => {
    const encoded = form.fromPatch(text);
    possible &&= encoded !== undefined;
    return encoded ?? text;
  };
  const encoded: TextEdits =
    edits.form === "hunks"
      ? {
          form: "hunks",
          hunks: edits.hunks.map((hunk) => ({
            ...hunk,
            anchors: hunk.anchors.map(encode),
            lines: hunk.lines.map((line) => {
              const text = encode(line.text);
              return text === line.text ? line : { ...line, text };
            }),
          })),
        }
      : {
          form: "structured",
          edits: edits.edits.map((edit) => {
            if (edit.op === "replace") return { ...edit, old: encode(edit.old), new: encode(edit.new) };
            return edit.op === "insert" ? { ...edit, text: encode(edit.text) } : edit;
          }),
        };
  return possible ? encoded : undefined;
}
