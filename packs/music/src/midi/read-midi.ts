import { malformed, tooLarge } from "../malformed.ts";
import { idAt, viewOf } from "../riff.ts";

export interface MidiNote {
  readonly pitch: number;
  readonly channel: number;
  readonly velocity: number;
  /** In seconds. */
  readonly start: number;
  readonly end: number;
}

export interface MidiFile {
  readonly tracks: number;
  readonly notes: readonly MidiNote[];
  /** Seconds until the last event. */
  readonly length: number;
}

export const MAX_MIDI_BYTES = 8 * 1024 * 1024;
const MAX_EVENTS = 1_000_000;
const HEADER_BYTES = 14;
const MICROSECONDS_PER_QUARTER = 500_000;
const WHAT = "MIDI file";

interface TimedEvent {
  readonly tick: number;
  readonly status: number;
  readonly first: number;
  readonly second: number;
  /** Of a tempo event. */
  readonly quarter?: number;
}

/** Reads a standard MIDI file: its notes and its length. A fault names the offset of its byte. */
export function readMidi(bytes: Uint8Array): MidiFile {
  if (bytes.length > MAX_MIDI_BYTES) throw tooLarge("the MIDI file", MAX_MIDI_BYTES, bytes.length);
  if (bytes.length < HEADER_BYTES) throw malformed(WHAT, 0, `has only ${bytes.length} bytes`);
  if (idAt(bytes, 0) !== "MThd") throw malformed(WHAT, 0, "does not begin with MThd");
  const view = viewOf(bytes);
  const headerSize = view.getUint32(4);
  if (headerSize < 6) throw malformed(WHAT, 4, `the header has ${headerSize} bytes instead of 6`);
  const division = view.getInt16(12);
  if (division === 0) throw malformed(WHAT, 12, "a quarter note has no ticks");
  const events: TimedEvent[] = [];
  let tracks = 0;
  for (let at = 8 + headerSize; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4);
    if (at + 8 + size > bytes.length)
      throw malformed(WHAT, at, `a chunk of ${size} bytes ends behind the file`);
    if (idAt(bytes, at) === "MTrk") {
      tracks += 1;
      readTrack(bytes, at + 8, at + 8 + size, events);
    }
    at += 8 + size;
  }
  if (tracks === 0) throw malformed(WHAT, HEADER_BYTES, "has no track");
  return { tracks, ...toNotes(events, division) };
}

function readTrack(bytes: Uint8Array, from: number, end: number, events: TimedEvent[]): void {
  let at = from;
  let tick = 0;
  let running = 0;
  const next = (): number => {
    const byte = at < end ? bytes[at] : undefined;
    if (byte === undefined) throw malformed(WHAT, at, "the track ends within an event");
    at += 1;
    return byte;
  };
  const data = (): number => {
    const byte = next();
    if (byte > 0x7f) throw malformed(WHAT, at - 1, `expected a data byte, found 0x${byte.toString(16)}`);
    return byte;
  };
  const quantity = (): number => {
    let value = 0;
    for (let n = 0; n < 4; n++) {
      const byte = next();
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    throw malformed(WHAT, at - 1, "a number has more than four bytes");
  };
  while (at < end) {
    tick += quantity();
    const start = at;
    let status = next();
    if (status < 0x80) {
      if (running === 0) throw malformed(WHAT, start, "a data byte without a status before it");
      status = running;
      at = start;
    }
    if (status >= 0xf0) {
      // Meta and system exclusive events cancel running status.
      running = 0;
      const type = status === 0xff ? next() : -1;
      if (status !== 0xff && status !== 0xf0 && status !== 0xf7)
        throw malformed(WHAT, start, `status 0x${status.toString(16)} is not allowed in a file`);
      const size = quantity();
      if (at + size > end) throw malformed(WHAT, start, `an event of ${size} bytes ends behind its track`);
      const quarter = type === 0x51 && size === 3 ? viewOf(bytes).getUint32(at - 1) & 0xff_ff_ff : undefined;
      at += size;
      events.push({ tick, status: 0xff, first: 0, second: 0, ...(quarter && { quarter }) });
      if (type === 0x2f) return;
    } else {
      running = status;
      const kind = status & 0xf0;
      const first = data();
      const second = kind === 0xc0 || kind === 0xd0 ? 0 : data();
      events.push({ tick, status, first, second });
    }
    if (events.length > MAX_EVENTS) throw tooLarge("the MIDI file", MAX_EVENTS, events.length, "events");
  }
}

function toNotes(events: readonly TimedEvent[], division: number): Pick<MidiFile, "notes" | "length"> {
  const notes: MidiNote[] = [];
  const sounding = new Map<number, { readonly start: number; readonly velocity: number }[]>();
  let secondsPerTick = toSecondsPerTick(division, MICROSECONDS_PER_QUARTER);
  let tick = 0;
  let now = 0;
  const release = (key: number) => {
    const begun = sounding.get(key)?.shift();
    if (begun) notes.push({ pitch: key & 0x7f, channel: key >> 7, ...begun, end: now });
  };
  for (const event of events.toSorted((a, b) => a.tick - b.tick)) {
    now += (event.tick - tick) * secondsPerTick;
    tick = event.tick;
    if (event.quarter) secondsPerTick = toSecondsPerTick(division, event.quarter);
    const kind = event.status & 0xf0;
    const key = ((event.status & 0x0f) << 7) | event.first;
    if (kind === 0x90 && event.second > 0) {
      const begun = sounding.get(key) ?? [];
      begun.push({ start: now, velocity: event.second });
      sounding.set(key, begun);
    } else if (kind === 0x80 || kind === 0x90) release(key);
  }
  for (const [key, begun] of sounding) while (begun.length > 0) release(key);
  return { notes: notes.sort((a, b) => a.start - b.start || a.pitch - b.pitch), length: now };
}

/** A negative division counts ticks of a film frame instead of a quarter note. */
function toSecondsPerTick(division: number, quarter: number): number {
  if (division > 0) return quarter / 1_000_000 / division;
  const framesPerSecond = -(division >> 8);
  return 1 / (framesPerSecond * Math.max(1, division & 0xff));
}
