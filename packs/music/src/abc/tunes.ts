import abcjs, { type TuneObject } from "abcjs";
import { PITCH_CLASSES } from "../audio/pitches.ts";
import { orMalformed } from "../malformed.ts";
import { type MidiFile, readMidi } from "../midi/read-midi.ts";

/** A fault in the text; lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly col: number;
  readonly message: string;
}

/** One tune of the text. */
export interface OpenTune {
  readonly number: string;
  readonly title: string;
  /** The tune alone, without the directives of its book. */
  readonly text: string;
  /** With them, as it is drawn and played. */
  readonly whole: string;
  /** Where it begins in the text of the caller. */
  readonly start: number;
  readonly parsed: TuneObject;
  readonly problems: Problem[];
}

/** A tune ends at an empty line; directives before the first one hold for all of them. */
export function openTunes(abc: string): OpenTune[] {
  const text = abc.replaceAll(/\r\n?/g, "\n");
  const book = new abcjs.TuneBook(text);
  const headerLines = book.header.split("\n").length - 1;
  return book.tunes.map(({ abc: whole, pure, startPos, id, title }) => {
    const [parsed] = orMalformed("tune", () => abcjs.parseOnly(whole));
    const firstLine = text.slice(0, startPos).split("\n").length;
    const problems = (parsed.warnings ?? []).map((warning) =>
      toProblem(warning, (line) => Math.max(1, line - headerLines + firstLine - 1)),
    );
    const missing = missingParts(pure, parsed).map((message) => ({ line: firstLine, col: 1, message }));
    return {
      number: /^X:/.test(pure) ? id : "",
      title,
      text: pure,
      whole,
      start: startPos,
      parsed,
      problems: [...missing, ...problems],
    };
  });
}

/** abcjs accepts tunes that lack what the standard asks for, and plays nothing. */
function missingParts(text: string, tune: TuneObject): string[] {
  const messages: string[] = [];
  if (!/^K:/m.test(text)) messages.push("the tune has no key: add a line such as K:C before the notes");
  if (!tune.lines.some((line) => line.staff !== undefined)) messages.push("the tune has no notes");
  return messages;
}

const WARNING = /^Music Line:(\d+):(\d+): (.*?): {2}.*$/s;

/** abcjs reports a line of HTML: `Music Line:4:3: Unknown character ignored:  CD<span …>$</span>EF`. */
function toProblem(warning: string, toLine: (line: number) => number): Problem {
  const [, line, col, message] = WARNING.exec(warning) ?? [];
  if (line === undefined || col === undefined || message === undefined)
    return { line: toLine(1), col: 1, message: warning.replaceAll(/<[^>]*>/g, "") };
  return { line: toLine(Number(line)), col: Number(col), message };
}

export const toMidi = ({ parsed }: OpenTune): Uint8Array => {
  const made = orMalformed("tune", () => abcjs.synth.getMidiFile(parsed, { midiOutputType: "binary" }));
  // With "binary" and one tune, abcjs returns its bytes; its types cannot tell.
  return made as unknown as Uint8Array;
};

export function describeTune(tune: OpenTune) {
  const { parsed, number, title } = tune;
  const midi = readMidi(toMidi(tune));
  const { root = "", acc = "", mode = "" } = parsed.getKeySignature();
  const meter = parsed.getMeterFraction();
  return {
    number,
    title,
    ...(typeof parsed.metaText.composer === "string" && { composer: parsed.metaText.composer }),
    key: root === "none" ? "none" : `${root}${acc}${mode}`,
    meter: `${meter.num}/${meter.den}`,
    bpm: parsed.getBpm(),
    notes: midi.notes.length,
    seconds: midi.length,
    pitch_classes: toPitchClasses(midi),
  };
}

const toPitchClasses = ({ notes }: MidiFile): string[] => {
  const heard = new Set(notes.map(({ pitch }) => pitch % PITCH_CLASSES.length));
  return PITCH_CLASSES.filter((_, n) => heard.has(n));
};
