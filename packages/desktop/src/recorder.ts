import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { makeTempFolder, startTrusted, type TrustedProgram } from "@octant/host";
import { missing } from "./program.ts";
import { remux } from "./video.ts";

/** A running recording. */
export interface Recorder {
  /** Ends it; disposing of the video deletes its file. */
  stop(): Promise<RecordedVideo>;
  /** Ends it and discards the file. */
  cancel(): Promise<void>;
}

export interface RecordedVideo extends Disposable {
  readonly path: string;
  readonly ffmpeg: TrustedProgram;
}

export interface ScreenRecording {
  readonly program: TrustedProgram | undefined;
  readonly display: string;
  readonly env: NodeJS.ProcessEnv;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly maxMs: number;
}

const STOP_MS = 10_000;

/** Records the display with ffmpeg. It writes to one of our pipes, so that it cannot outlive us. */
export async function startRecording(options: ScreenRecording): Promise<Recorder> {
  const { program, display, env, width, height, fps, maxMs } = options;
  if (program === undefined) throw missing("ffmpeg");
  const folder = makeTempFolder("record");
  const raw = join(folder.path, "raw.mkv");
  const child = startTrusted(
    program,
    [
      ...["-loglevel", "error", "-nostdin", "-f", "x11grab", "-framerate", String(fps)],
      ...["-video_size", `${width}x${height}`, "-i", display, "-t", String(maxMs / 1_000)],
      ...["-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-pix_fmt", "yuv420p", "-g", String(fps)],
      // An odd number of lines cannot be encoded.
      ...["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-flush_packets", "1", "-f", "matroska", "pipe:1"],
    ],
    { env, stdio: ["ignore", "pipe", "ignore"] },
  );
  const file = createWriteStream(raw, { mode: 0o600 });
  child.stdout?.pipe(file);
  // Its first bytes show that it can access the display.
  await Promise.race([once(child.stdout!, "readable"), once(child, "exit")]);
  return {
    async stop() {
      await end(child);
      await finished(file);
      const path = join(folder.path, "video.mp4");
      await remux(program, raw, path);
      return { path, ffmpeg: program, [Symbol.dispose]: folder[Symbol.dispose] };
    },
    async cancel() {
      child.kill("SIGKILL");
      folder[Symbol.dispose]();
    },
  };
}

/** Gracefully, so that the last frames are written. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  const exited = once(child, "exit");
  child.kill("SIGINT");
  await exited;
  clearTimeout(timer);
}
