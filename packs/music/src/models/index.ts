import {
  type AnyAction,
  action,
  type Context,
  defineTool,
  type PackContext,
  type Tool,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import { MAX_WAV_BYTES, readWav } from "../audio/wav.ts";
import { MAKE_ERRORS } from "../library/kinds.ts";
import { type Library, Made } from "../library/library.ts";
import { MAX_MIDI_BYTES, readMidi } from "../midi/read-midi.ts";
import type { Settings } from "../settings.ts";
import { type Row, SERVICES } from "./rows.ts";
import { askService, upstream } from "./service.ts";

const LIMITS = { midi: MAX_MIDI_BYTES, audio: MAX_WAV_BYTES } as const;
/** The products of a service, and how each is checked before it is stored. */
const FORMATS = {
  midi: { extension: "mid", mime: "audio/midi", check: readMidi },
  audio: { extension: "wav", mime: "audio/wav", check: readWav },
} as const;

const Pieces = z.object({
  results: z
    .array(z.object({ content: z.base64() }))
    .min(1)
    .max(8),
});

/** One tool for each model service. A service without an address in the settings says what to set. */
export const models = (library: Library, settings: PackContext<Settings>["settings"]): Tool[] =>
  Object.entries(SERVICES).map(([name, { summary, actions }]) => {
    // The keys of SERVICES are settings of the same names.
    const base = settings[name as keyof typeof settings];
    const backend = {
      name,
      available: base !== undefined,
      detail: base === undefined ? `set packs.music.settings.${name}` : new URL(base).host,
    };
    return defineTool({
      name,
      summary,
      listing: "brief",
      backends: () => [backend],
      actions: Object.fromEntries(
        Object.entries(actions).map(([key, row]) => [key, toAction(name, key, row, base, library)]),
      ),
    });
  });

function toAction(
  tool: string,
  name: string,
  row: Row,
  base: string | undefined,
  library: Library,
): AnyAction {
  const { summary, result, example } = row;
  return action({
    summary,
    access: "write",
    intent: "apply",
    timing: "async_long",
    openWorld: true,
    input: z.strictObject(row.input),
    output: typeof result === "string" ? z.object({ artifacts: z.array(Made) }) : result,
    errors: [...MAKE_ERRORS, "UNSUPPORTED", "UPSTREAM_ERROR"],
    examples: [{ title: "With the defaults", input: example, fails: "UNSUPPORTED" }],
    async run(input, ctx) {
      if (base === undefined) throw absent(tool);
      const url = `${base.replace(/\/$/, "")}/${name}`;
      const { request, parents } = await toRequest(row, input, library, ctx);
      const answer = await askService(url, request, ctx.signal, ctx.progress);
      ctx.backend(tool);
      if (typeof result === "string")
        return { artifacts: await keepPieces(url, tool, result, answer, parents, library, ctx) };
      const found = result.safeParse(answer);
      if (found.success) return found.data;
      throw upstream(url, `an unexpected result: ${z.prettifyError(found.error)}`);
    },
  });
}

function absent(tool: string): ToolError {
  const what = `packs.music.settings.${tool}`;
  const how = `set it to the address of a running ${tool} service, such as http://127.0.0.1:2000`;
  return new ToolError("UNSUPPORTED", `${tool} needs a model service; ${what}: ${how}`, { what, how });
}

/** The parameters, with the content of the music that they name. */
async function toRequest(row: Row, input: Readonly<Record<string, unknown>>, library: Library, ctx: Context) {
  const request: Record<string, unknown> = { ...input };
  const parents: string[] = [];
  for (const [name, kind] of Object.entries(row.sources)) {
    const source = input[name];
    if (typeof source !== "string") continue;
    const loaded = await library.load(source, LIMITS[kind], ctx);
    FORMATS[kind].check(loaded.bytes);
    request[name] = Buffer.from(loaded.bytes).toString("base64");
    parents.push(...loaded.parents);
  }
  return { request, parents };
}

async function keepPieces(
  url: string,
  tool: string,
  kind: keyof typeof FORMATS,
  answer: unknown,
  parents: readonly string[],
  library: Library,
  ctx: Context,
): Promise<Made[]> {
  const pieces = Pieces.safeParse(answer);
  if (!pieces.success) throw upstream(url, `an unexpected result: ${z.prettifyError(pieces.error)}`);
  const { extension, mime, check } = FORMATS[kind];
  // All are checked before any is stored.
  const contents = pieces.data.results.map(({ content }) => Buffer.from(content, "base64"));
  for (const bytes of contents) orUpstream(url, () => check(bytes));
  const made: Made[] = [];
  for (const [n, bytes] of contents.entries()) {
    const tags = [`type:${kind}`, `model:${tool}`];
    made.push(await library.keep({ name: `${tool}-${n + 1}.${extension}`, mime, tags, parents }, bytes, ctx));
  }
  return made;
}

/** Music that cannot be read is the service's fault, not the caller's. */
function orUpstream(url: string, check: () => unknown): void {
  try {
    check();
  } catch (cause) {
    throw upstream(
      url,
      `the result is unusable: ${cause instanceof Error ? cause.message : cause}`,
      undefined,
      cause,
    );
  }
}
