import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { type Frame, joinFrames, missing, type Recorder } from "@octant/desktop";
import { findTrusted, makeTempFolder, messageOf, type Page } from "@octant/host";

const MAX_FRAMES = 20_000;

/** Records a page; each visible change produces a frame. */
export async function recordPage(page: Page): Promise<Recorder> {
  const program = findTrusted("ffmpeg");
  if (program === undefined) throw missing("ffmpeg");
  const folder = makeTempFolder("record");
  const frames: Frame[] = [];
  // A static page sends no frames.
  const first = join(folder.path, "first.jpg");
  const started = performance.now();
  try {
    await page.screenshot({ path: first, type: "jpeg" });
    frames.push({ file: first, at: 0 });
    await page.screencast.start({
      onFrame({ data }) {
        if (frames.length >= MAX_FRAMES) return;
        const file = join(folder.path, `${frames.length}.jpg`);
        writeFileSync(file, data);
        frames.push({ file, at: performance.now() - started });
      },
    });
  } catch (cause) {
    folder[Symbol.dispose]();
    const message = `the page cannot be recorded: ${messageOf(cause)}; a page has one recording at a time, which ui.stop ends`;
    throw new ToolError("UPSTREAM_ERROR", message, {}, { cause });
  }
  return {
    async stop() {
      await page.screencast.stop().catch(() => {});
      const lengthMs = performance.now() - started;
      const path = join(folder.path, "video.mp4");
      await joinFrames(program, frames, lengthMs, folder.path, path);
      return { path, ffmpeg: program, [Symbol.dispose]: folder[Symbol.dispose] };
    },
    async cancel() {
      await page.screencast.stop().catch(() => {});
      folder[Symbol.dispose]();
    },
  };
}
