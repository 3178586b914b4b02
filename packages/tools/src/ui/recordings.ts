import { readFileSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { action, type Context, newHandle, Ref, ToolError, Uri } from "@octant/core";
import { durationOf, findChanges, frameAt, type RecordedVideo, type Recorder } from "@octant/desktop";
import { noPage, toRef } from "@octant/host";
import { z } from "zod";
import { findProfile, onScreen, type UiOptions } from "./acting.ts";
import { checkOutput, OUTPUT_ERRORS, saveFile } from "./files.ts";
import { Output, Profile } from "./inputs.ts";
import { recordPage } from "./page-recorder.ts";

const MAX_RECORDING_MS = 10 * 60_000;
const MAX_SESSION_MS = 110_000;
const MAX_RECORDINGS = 4;
const FPS = 10;
const MAX_BLOB_BYTES = 32 * 1024 * 1024;
const MAX_KEY_FRAMES = 12;
const KEY_FRAME_WIDTH = 640;

const errors = [
  "NOT_FOUND",
  "UNSUPPORTED",
  "PERMISSION_DENIED",
  "EXEC_FAILED",
  "LIMIT_EXCEEDED",
  ...OUTPUT_ERRORS,
  "TOO_LARGE",
  "UPSTREAM_ERROR",
] as const;
const base = { access: "write", intent: "verify", listing: "brief", errors } as const;

const Video = z.object({
  duration: z.int().describe("Milliseconds"),
  size: z.int(),
  ref: Ref.optional().describe("The video, unless output was given"),
  uri: Uri.optional(),
  undo: Ref.nullable().optional(),
});

/** Active recordings, by their handles. */
export type Recordings = Map<string, { readonly owner: string; readonly recorder: Recorder }>;

async function start(
  options: UiOptions,
  profile: string,
  fps: number,
  maxMs: number,
  ctx: Context,
): Promise<Recorder> {
  const screen = onScreen(options, profile, ctx);
  if (screen) return screen.record({ fps, maxMs }, ctx.signal);
  const tab = findProfile(options, profile, ctx).active();
  if (!tab) throw noPage(profile);
  return recordPage(tab.page);
}

export const record = (options: UiOptions, recordings: Recordings) =>
  action({
    ...base,
    timing: "async_short",
    summary: "Start a video of the page or the screen; stop saves it.",
    input: z.strictObject({
      fps: z.int().min(1).max(30).default(FPS).describe("screen only"),
      profile: Profile,
    }),
    output: z.object({ recording: z.string() }),
    examples: [{ title: "The page", input: {}, fails: "NOT_FOUND" }],
    async run({ fps, profile }, ctx) {
      if (recordings.size >= MAX_RECORDINGS)
        throw new ToolError("LIMIT_EXCEEDED", `${MAX_RECORDINGS} recordings run; end one with ui.stop`, {
          limit: MAX_RECORDINGS,
        });
      const recorder = await start(options, profile, fps, MAX_RECORDING_MS, ctx);
      const id = newHandle("stream", Date.now());
      recordings.set(id, { owner: ctx.caller.id, recorder });
      return { recording: id };
    },
    text: ({ recording }) => ({ body: "recording", handles: { recording } }),
  });

export const stop = (options: UiOptions, recordings: Recordings) =>
  action({
    ...base,
    timing: "async_medium",
    summary: "End a recording and save the video.",
    input: z.strictObject({ recording: z.string().min(1).max(100), output: Output.optional() }),
    output: Video,
    examples: [
      { title: "Save it", input: { recording: "stream_1", output: "demo.mp4" }, fails: "NOT_FOUND" },
    ],
    async run({ recording, output }, ctx) {
      const found = recordings.get(recording);
      if (found?.owner !== ctx.caller.id)
        throw new ToolError("NOT_FOUND", `there is no recording ${recording}; ui.record starts one`, {
          id: recording,
        });
      checkOutput(options, output);
      recordings.delete(recording);
      using video = await found.recorder.stop();
      const duration = await durationOf(video.ffmpeg, video.path);
      return { duration, ...(await store(options, video, output, ctx)) };
    },
    text: ({ duration, size, uri, ref }, reader) => ({
      body: `${duration} ms, ${size} bytes${uri ? `, saved as ${reader.path(uri)}` : ""}`,
      handles: { ref },
    }),
  });

export const session = (options: UiOptions) =>
  action({
    ...base,
    timing: "async_medium",
    summary: "Record for a while and report when the picture changed, with a key frame per change.",
    input: z.strictObject({
      duration: z.int().min(500).max(MAX_SESSION_MS).describe("Milliseconds"),
      fps: z.int().min(1).max(30).default(FPS),
      output: Output.optional(),
      profile: Profile,
    }),
    output: Video.extend({
      changes: z.array(
        z.object({
          at: z.int().describe("Milliseconds"),
          changed: z.number().describe("Fraction of the picture"),
          ref: Ref.optional(),
        }),
      ),
      more: z.int().optional().describe("Changes omitted"),
    }),
    examples: [{ title: "Ten seconds of the page", input: { duration: 10_000 }, fails: "NOT_FOUND" }],
    async run({ duration, fps, output, profile }, ctx) {
      checkOutput(options, output);
      const recorder = await start(options, profile, fps, duration, ctx);
      try {
        await pause(duration, ctx);
      } catch (cause) {
        await recorder.cancel();
        throw cause;
      }
      using video = await recorder.stop();
      const changes = await findChanges(video.ffmpeg, video.path);
      const rows = [];
      for (const { at, changed } of changes.slice(0, MAX_KEY_FRAMES)) {
        const bytes = await frameAt(video.ffmpeg, video.path, at, KEY_FRAME_WIDTH);
        ctx.attach({ kind: "image", mime: "image/jpeg", bytes });
        const ref = toRef(options.workspace.blobs.put(bytes));
        rows.push({ at, changed: Math.round(changed * 1_000) / 1_000, ref });
      }
      const more = changes.length - rows.length;
      return {
        duration: await durationOf(video.ffmpeg, video.path),
        ...(await store(options, video, output, ctx)),
        changes: rows,
        ...(more > 0 && { more }),
      };
    },
    text: ({ duration, changes, more = 0, uri, ref }, reader) => ({
      body: [
        `${duration} ms recorded${uri ? `, saved as ${reader.path(uri)}` : ""}`,
        ...changes.map(
          ({ at, changed }) => `${at} ms: ${Math.round(changed * 1_000) / 10} % of the picture changed`,
        ),
      ].join("\n"),
      notes: [more > 0 && `${more} more changes`],
      handles: { ref },
    }),
  });

/** Into the workspace when an output was given, otherwise behind a ref. */
async function store(options: UiOptions, { path }: RecordedVideo, output: string | undefined, ctx: Context) {
  const { size } = statSync(path);
  if (output !== undefined) return { size, ...(await saveFile(options, output, path, ctx.signal)) };
  if (size > MAX_BLOB_BYTES)
    throw new ToolError("TOO_LARGE", `the video has ${size} bytes; give an output to save it`, {
      limit: MAX_BLOB_BYTES,
      actual: size,
    });
  return { size, ref: toRef(options.workspace.blobs.put(readFileSync(path))) };
}

const PROGRESS_MS = 1_000;

/** Reports progress every second. */
async function pause(ms: number, ctx: Context): Promise<void> {
  const started = performance.now();
  for (let left = ms; left > 0; left = ms - (performance.now() - started)) {
    ctx.progress({ progress: ms - left, total: ms });
    await delay(Math.min(left, PROGRESS_MS), undefined, { signal: ctx.signal }).catch(() =>
      ctx.signal.throwIfAborted(),
    );
  }
}
