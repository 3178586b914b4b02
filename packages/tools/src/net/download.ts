import { action, type Context, Hash, Ref, Uri } from "@octant/core";
import { downloadFile } from "@octant/host";
import { z } from "zod";
import { DISK_ERRORS, PATH_ERRORS } from "../kinds.ts";
import { maxSize, RequestHeaders, timeout, Url } from "./inputs.ts";
import type { NetOptions } from "./options.ts";

const TIMEOUT_MS = 10 * 60_000;
const GIBIBYTE = 1024 ** 3;
const FILE_BYTES = 2 * GIBIBYTE;
const MAX_FILE_BYTES = 64 * GIBIBYTE;

export const download = ({ workspace, network, isRemote }: NetOptions) =>
  action({
    summary: "Download a file into the workspace; call again to resume an interrupted download.",
    access: "write",
    timing: "async_medium",
    intent: "apply",
    openWorld: true,
    input: z.strictObject({
      url: Url,
      output: Uri.describe("New file"),
      headers: RequestHeaders,
      timeout: timeout(TIMEOUT_MS),
      max_size: maxSize(FILE_BYTES, MAX_FILE_BYTES),
    }),
    output: z.object({
      uri: Uri,
      size: z.int(),
      hash: Hash,
      undo: Ref.nullable().describe("Null for a large file; remove it with fs.rm"),
      resumed: z.int().describe("Bytes reused from an earlier, interrupted call"),
      url: z.string().describe("Final URL after redirects"),
      mime: z.string().optional(),
    }),
    errors: [
      "NET_BLOCKED",
      "UPSTREAM_ERROR",
      "TIMEOUT",
      "TOO_LARGE",
      "LIMIT_EXCEEDED",
      "ALREADY_EXISTS",
      "NOT_A_DIRECTORY",
      ...PATH_ERRORS,
      ...DISK_ERRORS,
    ],
    examples: [
      {
        title: "An archive",
        input: { url: "https://files.example.invalid/data.zip", output: "data/data.zip" },
        fails: "UPSTREAM_ERROR",
      },
      {
        title: "A file that already exists",
        input: { url: "https://files.example.invalid/README.md", output: "README.md" },
        fails: "ALREADY_EXISTS",
      },
    ],
    text: ({ uri, size, hash, undo, mime }, { path }) => ({
      body: `saved ${path(uri)}, ${size} bytes${mime ? `, ${mime}` : ""}`,
      handles: { hash, undo },
    }),
    async run({ url, output, headers, timeout: timeoutMs, max_size: maxBytes }, ctx) {
      const place = { ...workspace, network, folder: workspace.state.folder("downloads") };
      const request = {
        url,
        output,
        headers,
        timeoutMs,
        maxBytes,
        owner: ctx.caller.id,
        isRemote: isRemote(ctx.caller),
        signal: ctx.signal,
        onProgress: createProgress(ctx),
      };
      const file = await downloadFile(place, request);
      return { ...file, url: file.url.href };
    },
  });

const STEP_MS = 500;

/** Reports the progress of a download, at most twice a second. */
function createProgress(ctx: Context): (bytes: number, total: number | undefined) => void {
  let reportedAt = performance.now();
  return (bytes, total) => {
    const now = performance.now();
    if (now - reportedAt < STEP_MS && bytes !== total) return;
    reportedAt = now;
    const message = total === undefined ? `${bytes} bytes` : `${bytes} of ${total} bytes`;
    ctx.progress({ progress: bytes, ...(total !== undefined && { total }), message });
  };
}
