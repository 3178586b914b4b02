import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context, Uri } from "@octant/core";
import { invalid, type Profile } from "@octant/host";
import { orRefused } from "./acting.ts";
import { checkOutput, readWorkspaceFile, saveFile } from "./files.ts";
import type { UiOptions } from "./options.ts";

const MAX_HAR_BYTES = 200 * 1024 * 1024;
const FILE = "page.har";

interface HarInput {
  readonly op: string;
  readonly output?: Uri | undefined;
  readonly uri?: Uri | undefined;
  readonly pattern?: string | undefined;
}

/** Records the requests of a profile as HAR, or answers them from one. */
export async function runHar(
  options: UiOptions,
  profile: Profile,
  recording: { har?: string | undefined },
  { op, output, uri, pattern }: HarInput,
  ctx: Context,
) {
  if (op === "har_replay") {
    if (uri === undefined) throw invalid("uri", "name the HAR file to replay");
    const { bytes } = readWorkspaceFile(options, uri, MAX_HAR_BYTES);
    await orRefused("uri", () =>
      profile.equip("har", (context) =>
        // A copy in a folder of its own: entries can name files beside the HAR, also through links out of the workspace.
        inFolder(async (folder) => {
          const path = join(folder, FILE);
          writeFileSync(path, bytes);
          await context.routeFromHAR(path, { notFound: "fallback", ...(pattern && { url: pattern }) });
        }),
      ),
    );
    return { done: "requests in the HAR are answered from it" };
  }
  const { tracing } = profile.context();
  if (op === "har_start") {
    const folder = mkdtempSync(join(tmpdir(), "octant-har-"));
    const filter = pattern && { urlFilter: pattern };
    try {
      await orRefused("op", () => tracing.startHar(join(folder, FILE), { content: "embed", ...filter }));
    } catch (cause) {
      rmSync(folder, { recursive: true, force: true });
      throw cause;
    }
    recording.har = folder;
    return { done: "recording requests; har_stop saves them" };
  }
  const folder = recording.har;
  if (folder === undefined) throw invalid("op", "no HAR is being recorded; begin with har_start");
  if (output === undefined) throw invalid("output", "name the file to save the HAR as");
  checkOutput(options, output);
  recording.har = undefined;
  try {
    await orRefused("op", () => tracing.stopHar());
    const path = join(folder, FILE);
    return {
      done: "saved",
      ...(await saveFile(options, output, { path, size: statSync(path).size }, ctx.signal)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "octant-har-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
