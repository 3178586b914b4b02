import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context, Uri } from "@octant/core";
import { invalid, makeTempFolder, type Profile } from "@octant/host";
import { orRefused, type UiOptions } from "./acting.ts";
import { checkOutput, readWorkspaceFile, saveFile } from "./files.ts";

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
  recording: { har?: ReturnType<typeof makeTempFolder> | undefined },
  { op, output, uri, pattern }: HarInput,
  ctx: Context,
) {
  if (op === "har_replay") {
    if (uri === undefined) throw invalid("uri", "name the HAR file to replay");
    const { bytes } = readWorkspaceFile(options, uri, MAX_HAR_BYTES);
    await orRefused("uri", () =>
      profile.equip("har", async (context) => {
        // A copy in a folder of its own: entries can name files beside the HAR, also through links out of the workspace.
        using folder = makeTempFolder("har");
        const path = join(folder.path, FILE);
        writeFileSync(path, bytes);
        await context.routeFromHAR(path, { notFound: "fallback", ...(pattern && { url: pattern }) });
      }),
    );
    return { done: "requests in the HAR are answered from it" };
  }
  const { tracing } = profile.context;
  if (op === "har_start") {
    const folder = makeTempFolder("har");
    const filter = pattern && { urlFilter: pattern };
    try {
      await orRefused("op", () => tracing.startHar(join(folder.path, FILE), { content: "embed", ...filter }));
    } catch (cause) {
      folder[Symbol.dispose]();
      throw cause;
    }
    recording.har = folder;
    return { done: "recording requests; har_stop saves them" };
  }
  if (recording.har === undefined) throw invalid("op", "no HAR is being recorded; begin with har_start");
  if (output === undefined) throw invalid("output", "name the file to save the HAR as");
  checkOutput(options, output);
  using folder = recording.har;
  recording.har = undefined;
  await orRefused("op", () => tracing.stopHar());
  return { done: "saved", ...(await saveFile(options, output, join(folder.path, FILE), ctx.signal)) };
}
