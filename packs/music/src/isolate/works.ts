import { ToolError } from "@octant/core";

/** A tune of the caller's text: by its X: number, or the first. */
export interface TuneInput {
  readonly abc: string;
  readonly tune: string | undefined;
}

async function openTune({ abc, tune }: TuneInput) {
  const { openTunes } = await import("../abc/tunes.ts");
  const tunes = openTunes(abc);
  const found = tune === undefined ? tunes[0] : tunes.find(({ number }) => number === tune);
  if (found) return found;
  const known = tunes.map(({ number }) => number).join(", ");
  const message =
    tune === undefined ? "the text has no tune" : `there is no tune X:${tune}; the text has ${known}`;
  throw new ToolError("NOT_FOUND", message, tune === undefined ? {} : { id: tune });
}

/** The work that foreign bytes go through, each kind in a thread with limits. Libraries are loaded when needed. */
export const WORKS = {
  async parse(abc: string) {
    const { describeTune, openTunes } = await import("../abc/tunes.ts");
    const tunes = openTunes(abc);
    return { tunes: tunes.map(describeTune), problems: tunes.flatMap(({ problems }) => problems) };
  },
  async validate(abc: string) {
    const { openTunes } = await import("../abc/tunes.ts");
    return { problems: openTunes(abc).flatMap(({ problems }) => problems) };
  },
  async transpose(input: { readonly abc: string; readonly semitones: number }) {
    const { transpose } = await import("../abc/transpose.ts");
    return transpose(input);
  },
  async midi(input: TuneInput) {
    const { describeTune, toMidi } = await import("../abc/tunes.ts");
    const tune = await openTune(input);
    return { ...describeTune(tune), problems: tune.problems, midi: toMidi(tune) };
  },
  async svg(input: TuneInput) {
    const { drawSheet } = await import("../abc/draw.ts");
    const tune = await openTune(input);
    return { title: tune.title, problems: tune.problems, svg: drawSheet(tune.whole) };
  },
  async soundfont(bytes: Uint8Array | undefined) {
    const { inspectSoundfont } = await import("../soundfont/inspect.ts");
    return inspectSoundfont(bytes);
  },
  async preset(input: {
    readonly bytes: Uint8Array | undefined;
    readonly bank: number;
    readonly program: number;
  }) {
    const { inspectPreset } = await import("../soundfont/inspect.ts");
    return inspectPreset(input);
  },
  async analyze(wav: Uint8Array) {
    const { analyze } = await import("../audio/analyze.ts");
    return analyze(wav);
  },
};

/** Work whose result comes in parts. */
export const STREAMS = {
  render: async (input: import("../midi/render.ts").RenderInput) => {
    const { renderMidi } = await import("../midi/render.ts");
    return renderMidi(input);
  },
};
