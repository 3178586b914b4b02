import { type ActionText, action, defineTool, handle, newHandle, pagingInput, Uri } from "@octant/core";
import type { Workspace } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { FOCUS_AREAS, FOCUS_NAMES } from "./focus-areas.ts";

const KIND = "thought";
const MAX_TEXT_CHARS = 16_000;
const MAX_FILES = 50;

const NoteId = handle(KIND);
const Text = z.string().trim().min(1).max(MAX_TEXT_CHARS);
const Texts = z.array(Text).max(20);

const Note = z.object({
  note_id: NoteId,
  kind: z.enum(["think", "critic", "review"]),
  text: z.string(),
  created_at: z.iso.datetime(),
  context: z.string().optional(),
  focus: z.enum(FOCUS_NAMES).optional(),
  code_snippets: z.array(z.string()).readonly().optional(),
  files: z
    .array(z.object({ uri: z.string(), hash: z.string() }))
    .readonly()
    .optional()
    .describe("As they were when the note was made"),
});
type Note = z.output<typeof Note>;

const Recorded = Note.pick({ note_id: true, kind: true, focus: true, files: true }).extend({
  notes: z.int().describe("How many there are in this session"),
  questions: z.array(z.string()).readonly().optional().describe("To be answered before you continue"),
});

const CRITIC_QUESTIONS = [
  "Which statement in it has no evidence yet, and what would be the cheapest check?",
  "What is the strongest argument against it?",
  "Which simpler way would do, and why was it not taken?",
  "What happens if it is wrong, and how would you notice?",
] as const;

/**
 * Ordered notes of the caller. They change nothing in the project, so they need no write access; no model is called.
 */
export const think = ({ records, files }: Pick<Workspace, "records" | "files">) => {
  const keep = (owner: string, note: Omit<Note, "note_id" | "created_at">, questions?: readonly string[]) => {
    const note_id = newHandle(KIND, Date.now());
    const made: Note = { note_id, ...note, created_at: new Date().toISOString() };
    records.put({ kind: KIND, owner, record_id: note_id, body: JSON.stringify(made) });
    const { kind, focus, files: seen } = made;
    return {
      note_id,
      kind,
      notes: records.count({ kind: KIND, owner }),
      ...(focus && { focus }),
      ...(seen && { files: seen }),
      ...(questions && { questions }),
    };
  };
  const look = (paths: readonly string[]) =>
    Promise.all(
      paths.map(async (path) => {
        const { uri, hash } = await files.stat(path, {});
        return { uri, hash: hash ?? "" };
      }),
    );

  return defineTool({
    name: "think",
    summary: "Notes of your reasoning, criticism and reviews.",
    listing: "on_demand",
    actions: {
      think: action({
        summary: "Note a thought, such as a hypothesis or a decision.",
        ...INSPECT,
        input: z.strictObject({ thought: Text }),
        output: Recorded,
        errors: ["NO_SPACE", "IO_ERROR"],
        examples: [{ title: "A hypothesis", input: { thought: "The cache is read before it is filled." } }],
        text: recordedText,
        run: ({ thought }, { caller }) => keep(caller.id, { kind: "think", text: thought }),
      }),
      critic: action({
        summary: "Note an analysis that should be doubted; answers with questions to put to it.",
        ...INSPECT,
        input: z.strictObject({ analysis: Text }),
        output: Recorded,
        errors: ["NO_SPACE", "IO_ERROR"],
        examples: [
          { title: "Doubt it", input: { analysis: "A retry is enough, since the server is idempotent." } },
        ],
        text: recordedText,
        run: ({ analysis }, { caller }) =>
          keep(caller.id, { kind: "critic", text: analysis }, CRITIC_QUESTIONS),
      }),
      review: action({
        summary: "Note work for review; answers with what to check in the focus area.",
        ...INSPECT,
        input: z.strictObject({
          work_description: Text,
          focus: z.enum(FOCUS_NAMES).default("general"),
          code_snippets: Texts.optional(),
          file_paths: z.array(Uri).max(MAX_FILES).optional().describe("Their hashes are noted"),
          context: Text.optional(),
        }),
        output: Recorded,
        errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE", "NO_SPACE", "IO_ERROR"],
        examples: [
          {
            title: "The tests of a change",
            input: { work_description: "Retries with jitter", focus: "testing", file_paths: ["src/main.ts"] },
          },
        ],
        text: recordedText,
        async run({ work_description, focus, code_snippets, file_paths, context }, { caller }) {
          const note = {
            ...({ kind: "review", text: work_description, focus } as const),
            ...(code_snippets && { code_snippets }),
            ...(context !== undefined && { context }),
            ...(file_paths && { files: await look(file_paths) }),
          };
          return keep(caller.id, note, FOCUS_AREAS[focus]);
        },
      }),
      list: action({
        summary: "Notes of this session, newest first.",
        ...INSPECT,
        input: z.strictObject({ ...pagingInput(20, 100) }),
        output: z.object({ notes: z.array(Note) }),
        errors: ["INVALID_CURSOR", "IO_ERROR"],
        examples: [{ title: "List the notes", input: {} }],
        text: ({ notes }) => ({
          body:
            notes
              .map(({ kind, focus, text }) => `${kind}${focus ? ` (${focus})` : ""}: ${text}`)
              .join("\n\n") || "there are no notes",
        }),
        run({ limit }, ctx) {
          const before = ctx.resume(NoteId);
          const bodies = records.list({ kind: KIND, owner: ctx.caller.id, before, limit: limit + 1 });
          const found = bodies.map((body) => Note.parse(JSON.parse(body)));
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.note_id);
          return { notes: page };
        },
      }),
    },
  });
};

const recordedText = ({ notes, questions = [] }: z.output<typeof Recorded>): ActionText => ({
  body: questions.map((question) => `- ${question}`).join("\n"),
  notes: [`noted as number ${notes}`],
});
