import abcjs from "abcjs";

interface Played {
  readonly pitch: number;
  readonly start: number;
  readonly end: number;
}

/** An accidental holds until the bar ends, so one that is mended may spoil later ones; each round mends the next. */
const MAX_ROUNDS = 24;
const SHARPS = ["=C", "^C", "=D", "^D", "=E", "=F", "^F", "=G", "^G", "=A", "^A", "=B"];

/**
 * Writes out the accidentals of notes that do not sound as the original moved by `semitones`: abcjs loses some where a
 * bar has several on one line of the staff. Notes within chords and grace notes are left as they are.
 */
export function respell(original: string, transposed: string, semitones: number): string {
  const wanted = playedNotes(original).map(({ pitch }) => pitch + semitones);
  let text = transposed;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const mended = new Map<number, { readonly end: number; readonly pitch: number }>();
    for (const [n, { pitch, start, end }] of playedNotes(text).entries()) {
      const right = wanted[n];
      if (right !== undefined && right !== pitch) mended.set(start, { end, pitch: right });
    }
    const before = text;
    // From the end, so that the positions before stay true.
    for (const [start, { end, pitch }] of [...mended].sort(([a], [b]) => b - a))
      text = text.slice(0, start) + writeNote(text.slice(start, end), pitch) + text.slice(end);
    if (text === before) return text;
  }
  return text;
}

function playedNotes(text: string): Played[] {
  const [tune] = abcjs.parseOnly(text);
  return tune
    .setUpAudio({ chordsOff: true })
    .tracks.flatMap((track) =>
      track.flatMap((event) =>
        event.cmd === "note" && event.startChar !== undefined
          ? [{ pitch: event.pitch, start: event.startChar, end: event.endChar }]
          : [],
      ),
    );
}

const NOTE = /[\^_=]*[A-Ga-g][,']*/g;
/** Chord names, decorations and grace notes, which also have letters. */
const BESIDE_THE_NOTE = /"[^"]*"|![^!]*!|\+[^+]*\+|\{[^}]*\}|\[[A-Za-z]:[^\]]*\]/g;

function writeNote(element: string, pitch: number): string {
  const bare = element.replaceAll(BESIDE_THE_NOTE, (part) => " ".repeat(part.length));
  const [note, ...more] = bare.matchAll(NOTE);
  if (!note || more.length > 0) return element;
  return element.slice(0, note.index) + toAbc(pitch) + element.slice(note.index + note[0].length);
}

/** C is 60, c is 72; a comma or an apostrophe is an octave. */
function toAbc(pitch: number): string {
  const name = SHARPS[pitch % 12] ?? "";
  const octave = Math.floor(pitch / 12) - 5;
  if (octave <= 0) return name + ",".repeat(-octave);
  return name.toLowerCase() + "'".repeat(octave - 1);
}
