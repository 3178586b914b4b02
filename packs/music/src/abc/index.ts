import { action, type Context, defineTool, invalidArgument } from "@octant/core";
import { z } from "zod";
import { isolate } from "../isolate/isolate.ts";
import { INSPECT, MAKE, MAKE_ERRORS, SOURCE_ERRORS } from "../library/kinds.ts";
import { type Library, type Loaded, Made, Save, Source, toName } from "../library/library.ts";

const MAX_ABC_CHARS = 256 * 1024;
const MAX_SEMITONES = 36;

const textInput = {
  abc: z.string().min(1).max(MAX_ABC_CHARS).optional().describe("The tune as ABC text"),
  source: Source.optional(),
};
const tuneInput = {
  ...textInput,
  tune: z
    .string()
    .max(16)
    .optional()
    .describe("The number after X: of one of several tunes; default: the first"),
};

const Problem = z.object({ line: z.int(), col: z.int(), message: z.string() });
const Problems = z.array(Problem).describe("Lines and columns count from 1");
const Tune = z.object({
  number: z.string().describe("After X:"),
  title: z.string(),
  composer: z.string().optional(),
  key: z.string(),
  meter: z.string(),
  bpm: z.number(),
  notes: z.int(),
  seconds: z.number(),
  pitch_classes: z.array(z.string()),
});

const SCALE = "X:1\nT:Scale\nM:4/4\nL:1/4\nQ:1/4=120\nK:D\nDEFG|ABcd|]\n";

/** Tunes as text. */
export const abc = (library: Library) =>
  defineTool({
    name: "abc",
    summary: "Tunes in ABC notation: check, transpose, play and print them.",
    actions: {
      parse: action({
        ...INSPECT,
        summary: "Show the tunes of an ABC text: title, key, meter, tempo, notes and length.",
        input: z.strictObject(textInput),
        output: z.object({ tunes: z.array(Tune), problems: Problems }),
        errors: SOURCE_ERRORS,
        examples: [{ title: "A scale", input: { abc: SCALE } }],
        run: async (input, ctx) => isolate("parse", (await textOf(library, input, ctx)).text, ctx.signal),
      }),
      validate: action({
        ...INSPECT,
        summary: "Check an ABC text and name the line and column of each problem.",
        input: z.strictObject(textInput),
        output: z.object({ valid: z.boolean(), problems: Problems }),
        errors: SOURCE_ERRORS,
        examples: [{ title: "An unknown character", input: { abc: "X:1\nK:C\nCD$E|\n" } }],
        async run(input, ctx) {
          const { text } = await textOf(library, input, ctx);
          const { problems } = await isolate("validate", text, ctx.signal);
          return { valid: problems.length === 0, problems };
        },
      }),
      transpose: action({
        ...INSPECT,
        summary: "Transpose all tunes of an ABC text, with their keys and chords.",
        input: z.strictObject({ ...textInput, semitones: z.int().min(-MAX_SEMITONES).max(MAX_SEMITONES) }),
        output: z.object({ abc: z.string() }),
        errors: [...SOURCE_ERRORS, "UNSUPPORTED"],
        examples: [{ title: "Up a minor third", input: { abc: SCALE, semitones: 3 } }],
        async run({ semitones, ...input }, ctx) {
          const { text } = await textOf(library, input, ctx);
          return isolate("transpose", { abc: text, semitones }, ctx.signal);
        },
      }),
      to_midi: action({
        ...MAKE,
        summary: "Make a MIDI file of a tune and store it as an artifact; the tune is its parent.",
        input: z.strictObject({ ...tuneInput, save: Save }),
        output: Tune.extend({ artifact: Made, problems: Problems }),
        errors: MAKE_ERRORS,
        examples: [{ title: "A scale", input: { abc: SCALE } }],
        async run({ save, tune, ...input }, ctx) {
          const loaded = await textOf(library, input, ctx);
          const { midi, ...about } = await isolate("midi", { abc: loaded.text, tune }, ctx.signal);
          const parents = await parentsOf(library, loaded, about.title, ctx);
          const name = toName(about.title, "mid");
          const result = { name, mime: "audio/midi", tags: ["type:midi"], parents, save };
          return { ...about, artifact: await library.keep(result, midi, ctx) };
        },
      }),
      to_svg: action({
        ...MAKE,
        summary: "Draw the sheet music of a tune as SVG and store it as an artifact.",
        input: z.strictObject({ ...tuneInput, save: Save }),
        output: z.object({ title: z.string(), artifact: Made, problems: Problems }),
        errors: MAKE_ERRORS,
        examples: [{ title: "A scale", input: { abc: SCALE } }],
        async run({ save, tune, ...input }, ctx) {
          const loaded = await textOf(library, input, ctx);
          const { svg, title, problems } = await isolate("svg", { abc: loaded.text, tune }, ctx.signal);
          const parents = await parentsOf(library, loaded, title, ctx);
          const result = {
            name: toName(title, "svg"),
            mime: "image/svg+xml",
            tags: ["type:sheet"],
            parents,
            save,
          };
          return { title, problems, artifact: await library.keep(result, Buffer.from(svg), ctx) };
        },
      }),
    },
  });

type TextInput = z.output<z.ZodObject<typeof textInput>>;
type Text = Pick<Loaded, "parents"> & { readonly text: string };

async function textOf(library: Library, input: TextInput, ctx: Context): Promise<Text> {
  if ((input.abc === undefined) === (input.source === undefined))
    throw invalidArgument("abc", "give the tune as abc, or the source that has it");
  if (input.source === undefined) return { text: input.abc ?? "", parents: [] };
  const { bytes, parents } = await library.load(input.source, MAX_ABC_CHARS, ctx);
  return { text: Buffer.from(bytes).toString("utf8"), parents };
}

/** A tune that is not an artifact yet becomes one: a result names what it was made from. */
async function parentsOf(library: Library, { text, parents }: Text, title: string, ctx: Context) {
  if (parents.length > 0) return parents;
  const result = { name: toName(title, "abc"), mime: "text/vnd.abc", tags: ["type:tune"], parents: [] };
  const { artifact_id } = await library.keep(result, Buffer.from(text), ctx);
  return [artifact_id];
}
