import { join } from "node:path";
import { action, Ref, Uri } from "@octant/core";
import { invalid, makeTempFolder } from "@octant/host";
import { z } from "zod";
import { findProfile, orRefused, type UiOptions } from "./acting.ts";
import { checkOutput, OUTPUT_ERRORS, readWorkspaceFile, saveBytes, saveFile } from "./files.ts";
import { Output, PageProfile } from "./inputs.ts";

const MAX_STATE_BYTES = 10 * 1024 * 1024;
const errors = ["NOT_FOUND", ...OUTPUT_ERRORS, "TOO_LARGE", "UPSTREAM_ERROR"] as const;
const Saved = z.object({ done: z.string(), uri: Uri.optional(), undo: Ref.nullable().optional() });

export const trace = (options: UiOptions) =>
  action({
    summary: "Record a Playwright trace and save it.",
    listing: "brief",
    access: "write",
    timing: "async_short",
    intent: "verify",
    input: z.strictObject({ op: z.enum(["start", "stop"]), output: Output.optional(), profile: PageProfile }),
    output: Saved,
    errors,
    examples: [{ title: "Begin", input: { op: "start" }, fails: "NOT_FOUND" }],
    async run({ op, output, profile: name }, ctx) {
      const { tracing } = findProfile(options, name, ctx).context;
      if (op === "start") {
        await orRefused("op", () => tracing.start({ screenshots: true, snapshots: true }));
        return { done: "recording a trace" };
      }
      if (output === undefined)
        throw invalid("output", "name the file to save the trace as, such as trace.zip");
      checkOutput(options, output);
      using folder = makeTempFolder("trace");
      const path = join(folder.path, "trace.zip");
      await orRefused("op", () => tracing.stop({ path }));
      return { done: "saved", ...(await saveFile(options, output, path, ctx.signal)) };
    },
    text: ({ done, uri }, reader) => ({ body: uri ? `${done} ${reader.path(uri)}` : done }),
  });

export const storage = (options: UiOptions) =>
  action({
    summary: "Save a profile's cookies and local storage to a file, or load them into a profile.",
    listing: "brief",
    access: "write",
    timing: "async_short",
    intent: "verify",
    input: z.strictObject({
      op: z.enum(["save", "load"]),
      output: Output.optional(),
      uri: Uri.optional().describe("load: a file written by save"),
      profile: PageProfile,
    }),
    output: Saved,
    errors,
    examples: [{ title: "Save", input: { op: "save", output: "state.json" }, fails: "NOT_FOUND" }],
    async run({ op, output, uri, profile: name }, ctx) {
      const context = findProfile(options, name, ctx).context;
      if (op === "load") {
        if (uri === undefined) throw invalid("uri", "name the file to load");
        const { bytes } = readWorkspaceFile(options, uri, MAX_STATE_BYTES);
        await orRefused("uri", async () => context.setStorageState(JSON.parse(bytes.toString())));
        return { done: "loaded; reload the page to use it" };
      }
      if (output === undefined) throw invalid("output", "name the file to save to");
      checkOutput(options, output);
      const state = await context.storageState({ indexedDB: true });
      return {
        done: "saved",
        ...(await saveBytes(options, output, Buffer.from(`${JSON.stringify(state, null, 2)}\n`), ctx.signal)),
      };
    },
    text: ({ done, uri }, reader) => ({ body: uri ? `${done} ${reader.path(uri)}` : done }),
  });
