import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { runTrusted, startTrusted, type TrustedProgram } from "@octant/host";

const FFMPEG_MS = 120_000;
/** It needs no environment. */
const OPTIONS = { env: {}, timeoutMs: FFMPEG_MS };

async function ffmpeg(program: TrustedProgram, args: readonly string[]): Promise<Buffer> {
  const ran = await runTrusted(program, ["-loglevel", "error", "-nostdin", "-y", ...args], OPTIONS);
  if (ran.code === 0) return ran.stdout;
  throw new ToolError(
    "EXEC_FAILED",
    "ffmpeg could not make the video",
    { program: "ffmpeg" },
    { cause: ran.stderr },
  );
}

/** The same frames in a seekable file. */
export const remux = async (program: TrustedProgram, from: string, to: string): Promise<void> => {
  await ffmpeg(program, ["-i", from, "-c", "copy", "-movflags", "+faststart", to]);
};

export interface Frame {
  readonly file: string;
  /** Milliseconds from the start. */
  readonly at: number;
}

/** A frame is repeated until the next one, so the last one must be added again. */
const FRAME_MS = 40;

/** A video in which each frame is shown until the next one. */
export async function joinFrames(
  program: TrustedProgram,
  frames: readonly Frame[],
  lengthMs: number,
  folder: string,
  to: string,
): Promise<void> {
  const lines = frames.flatMap(({ file, at }, index) => {
    const until = frames[index + 1]?.at ?? lengthMs;
    return [`file '${file}'`, `duration ${Math.max(1, until - at) / 1_000}`];
  });
  const last = frames.at(-1);
  const list = join(folder, "frames.txt");
  writeFileSync(
    list,
    ["ffconcat version 1.0", ...lines, ...(last ? [`file '${last.file}'`] : [])].join("\n"),
  );
  await ffmpeg(program, [
    ...["-f", "concat", "-safe", "0", "-i", list, "-t", String((lengthMs + FRAME_MS) / 1_000)],
    ...["-r", String(1_000 / FRAME_MS)],
    ...["-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2", "-c:v", "libx264", "-preset", "veryfast"],
    ...["-pix_fmt", "yuv420p", to],
  ]);
}

export interface Change {
  /** Milliseconds from the start: when the picture had settled. */
  readonly at: number;
  /** The share of the picture that differs from the previous key frame, from 0 to 1. */
  readonly changed: number;
}

const LOOK_FPS = 5;
const LOOK_WIDTH = 320;
const LOOK_HEIGHT = 200;
/** Below this a pixel counts as equal. */
const PIXEL_DIFFERENCE = 20;
/** A blinking cursor is smaller. */
const CHANGED_PART = 0.0005;

/** Milliseconds, from the file itself. */
export async function durationOf(program: TrustedProgram, path: string): Promise<number> {
  // Without an output ffmpeg prints what it found and exits with an error.
  const { stderr } = await runTrusted(program, ["-hide_banner", "-nostdin", "-i", path], OPTIONS);
  const [, hours = 0, minutes = 0, seconds = 0] = /Duration: (\d+):(\d+):([\d.]+)/.exec(stderr) ?? [];
  return Math.round((Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000);
}

/** When the picture changed; a continuous change is reported once, when it settles. */
export async function findChanges(program: TrustedProgram, path: string): Promise<readonly Change[]> {
  const changes: Change[] = [];
  let key: Buffer | undefined;
  let before: Buffer | undefined;
  let count = 0;
  let isMoving = false;
  for await (const frame of smallFrames(program, path)) {
    const at = (count++ * 1_000) / LOOK_FPS;
    if (key === undefined) key = frame;
    else {
      const changed = differenceOf(key, frame);
      const rests = before !== undefined && differenceOf(before, frame) < CHANGED_PART;
      if (changed >= CHANGED_PART && rests && isMoving) {
        changes.push({ at, changed });
        key = frame;
        isMoving = false;
      } else if (!rests) isMoving = true;
    }
    before = frame;
  }
  // It never settled.
  if (isMoving && key && before && differenceOf(key, before) >= CHANGED_PART)
    changes.push({ at: ((count - 1) * 1_000) / LOOK_FPS, changed: differenceOf(key, before) });
  return changes;
}

async function* smallFrames(program: TrustedProgram, path: string): AsyncGenerator<Buffer> {
  const filter = `fps=${LOOK_FPS},scale=${LOOK_WIDTH}:${LOOK_HEIGHT}:flags=area`;
  const args = [
    ...["-loglevel", "error", "-nostdin", "-i", path, "-vf", filter],
    ...["-pix_fmt", "gray", "-f", "rawvideo", "-"],
  ];
  const child = startTrusted(program, args, { env: {}, stdio: ["ignore", "pipe", "ignore"] });
  const size = LOOK_WIDTH * LOOK_HEIGHT;
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of child.stdout ?? []) {
      rest = Buffer.concat([rest, chunk]);
      for (; rest.length >= size; rest = rest.subarray(size)) yield Buffer.from(rest.subarray(0, size));
    }
  } finally {
    child.kill("SIGKILL");
  }
}

function differenceOf(a: Buffer, b: Buffer): number {
  let different = 0;
  for (let index = 0; index < a.length; index++)
    if (Math.abs((a[index] ?? 0) - (b[index] ?? 0)) > PIXEL_DIFFERENCE) different++;
  return different / a.length;
}

/** One frame of a video, as JPEG. */
export const frameAt = (program: TrustedProgram, path: string, at: number, width: number): Promise<Buffer> =>
  ffmpeg(program, [
    ...["-ss", String(at / 1_000), "-i", path, "-frames:v", "1", "-vf", `scale='min(${width},iw)':-2`],
    ...["-f", "image2", "-c:v", "mjpeg", "-q:v", "5", "pipe:1"],
  ]);
