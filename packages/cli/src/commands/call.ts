import { closeSync, createReadStream, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { type CallTarget, toLocalTarget, toRemoteTarget } from "@octant/app";
import type { BinaryPart } from "@octant/core";
import { pathToUri } from "@octant/host";
import { createTerminalAsk, openTerminal } from "@octant/runtime";
import { parseCallArguments, parseName } from "../call-arguments.ts";
import {
  defineCommand,
  EXIT,
  type FlagValues,
  type Io,
  onSignals,
  printJson,
  UsageError,
} from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { clearProgress, showAttachments, showEnvelope, showProgress } from "../show-answer.ts";
import { viaFlags } from "../wire-flags.ts";
import { permissionFlags, workspaceFlags } from "../workspace-flags.ts";

const STDIN = "-";

export const call = defineCommand({
  name: "call",
  summary: "Call one action of a tool",
  arguments: [
    { name: "TOOL.ACTION", kind: "action" },
    { name: "KEY=VALUE", many: true },
  ],
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    json: { summary: "Print the whole envelope as JSON" },
    output: { summary: "Save the image, audio or bytes attached to the answer", value: "FILE" },
    upload: { summary: "Send a file's bytes with the call, for cas.store", value: "FILE" },
    ...viaFlags,
    via: {
      summary: `${viaFlags.via.summary}; or the MCP URL of a hub or of octant serve --http, with the token in OCTANT_TOKEN`,
      value: "ADDRESS",
    },
  },
  notes: `Arguments: key=value, parsed by the type of the action's parameter (numbers, true, JSON for lists and
objects; a list also as the same key again), key=@file for the text of a file, key=@- for stdin,
key=@@… for a value that begins with @; or all of it as one JSON object. For example:
  octant call fs.read uri=README.md
  octant call fs.list '{"uri": ".", "depth": 2}'
The content of the answer goes to stdout, and facts about it (hash, counts, cursor) go to stderr.`,
  async run({ args: [called = "", ...words], flags }, io) {
    using terminal = flags.permissions === "enforce" ? openTerminal() : undefined;
    await using target = await openTarget(flags, io);
    const { tool, action = "" } = parseName(called);
    const input = parseCallArguments(words, await target.inputSchema(tool, action), readText);
    const interrupt = new AbortController();
    using _signals = onSignals(["SIGINT"], () => interrupt.abort());
    const { signal } = interrupt;
    using saved = createSavedBytes(flags.output);
    const { envelope: answer, attachments } = await target.call(
      { tool, action, input },
      {
        signal,
        onProgress: (update) => showProgress(update, io),
        onBinary: saved.write,
        ask: terminal && createTerminalAsk(terminal),
        ...(flags.upload !== undefined && { upload: toUpload(flags.upload) }),
      },
    );
    const envelope = await target.outcomeOf(answer, signal);
    clearProgress(io);
    if (flags.json) printJson(envelope, io);
    else showEnvelope(envelope, target.describe, io, flags.via);
    if (saved.size === 0) showAttachments(attachments, flags.output, io);
    if (envelope.ok) return EXIT.OK;
    return signal.aborted ? EXIT.INTERRUPTED : EXIT.FAILED;
  },
});

type CallFlags = Parameters<typeof openOctant>[0] & FlagValues<typeof viaFlags>;

async function openTarget(flags: CallFlags, io: Io): Promise<CallTarget> {
  if (flags.via === undefined) return toLocalTarget(await openOctant(flags, io));
  if (/^https?:/.test(flags.via)) {
    const { openMcpTarget } = await import("@octant/app");
    return openMcpTarget({ url: flags.via, token: io.env["OCTANT_TOKEN"], rootUri: pathToUri(io.cwd()) });
  }
  // Loaded on demand: most calls need no wire.
  const { openRemote } = await import("../open-remote.ts");
  return toRemoteTarget(await openRemote({ ...flags, via: flags.via }, io.env), pathToUri(io.cwd()));
}

/** Reads a file as the bytes to send with a call. */
const toUpload = (file: string): BinaryPart => ({
  mime: "application/octet-stream",
  size: statSync(file).size,
  read: () => createReadStream(file, { highWaterMark: 256 * 1024 }),
});

/** The file is created with the first bytes. */
function createSavedBytes(file: string | undefined) {
  let fd: number | undefined;
  let size = 0;
  return {
    get size() {
      return size;
    },
    write(bytes: Uint8Array) {
      size += bytes.length;
      if (file === undefined) return;
      fd ??= openSync(file, "w", 0o600);
      writeSync(fd, bytes);
    },
    [Symbol.dispose]() {
      if (fd !== undefined) closeSync(fd);
    },
  };
}

function readText(source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      readFileSync(source === STDIN ? process.stdin.fd : source),
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`@${source} cannot be read: ${reason}`, "it has to be a text file in UTF-8");
  }
}
