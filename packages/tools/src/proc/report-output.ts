import { setImmediate as turn } from "node:timers/promises";
import type { Context } from "@octant/core";
import type { Processes, Spool } from "@octant/host";
import { createEscapeStripper, toPlainText } from "./terminal-text.ts";

/** Fast commands do not need progress. */
const PROGRESS_AFTER_MS = 250;
const PROGRESS_EVERY_MS = 5_000;
/** Output is collected for this long, so that a program that prints single lines does not cause an event for each. */
const COLLECT_MS = 20;
const MAX_CHUNK_BYTES = 16 * 1024;
/** Emitted in one turn; other calls run between the turns. */
const MAX_TURN_BYTES = 1024 * 1024;
/**
 * When a command prints faster than its output can be reported, older output is left out, and the stream says how much.
 */
const MAX_BEHIND_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE_CHARS = 200;

/**
 * Streams a process's output into its job's events, with the last line as its progress, until the returned function
 * is called; that emits the rest.
 */
export function reportOutput(processes: Processes, owner: string, proc_id: string, ctx: Context) {
  const started = performance.now();
  /** Stays the message until another line is printed. */
  let last = "";
  let isFast = true;
  const reportProgress = () => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    ctx.progress({ progress: seconds, message: last || `running for ${seconds} s` });
  };
  const slow = setTimeout(() => {
    isFast = false;
    if (last !== "") reportProgress();
  }, PROGRESS_AFTER_MS);
  const streams = (["stdout", "stderr"] as const).map((name) =>
    createReporter(processes.output(owner, proc_id, name), ctx.emit),
  );
  /** Returns whether more is left. */
  const report = (): boolean => {
    let isMore = false;
    for (const stream of streams) {
      const { lastLine, isBehind } = stream.report();
      if (lastLine !== undefined) {
        last = lastLine || last;
        if (!isFast) reportProgress();
      }
      isMore ||= isBehind;
    }
    return isMore;
  };
  let collecting: NodeJS.Timeout | undefined;
  const collect = () => {
    collecting ??= setTimeout(() => {
      collecting = undefined;
      if (report()) collect();
    }, COLLECT_MS);
  };
  const stopListening = processes.onOutput(proc_id, collect);
  const regularly = setInterval(reportProgress, PROGRESS_EVERY_MS);
  return async (): Promise<void> => {
    clearTimeout(slow);
    clearTimeout(collecting);
    clearInterval(regularly);
    stopListening();
    while (report()) await turn();
    for (const stream of streams) stream.end();
  };
}

/** Emits the new part of one stream at each call: all of it, or a chunk that says how much is missing. */
function createReporter(spool: Spool, emit: Context["emit"]) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const stripper = createEscapeStripper();
  let reported = 0;
  const emitText = (text: string) => {
    if (text !== "") emit({ kind: "text", text });
  };
  const emitBytes = (bytes: Buffer): string => {
    const text = bytes.includes(0)
      ? `[${bytes.length} bytes that are not text]`
      : stripper.push(decoder.decode(bytes, { stream: true }));
    emitText(text);
    return text;
  };
  return {
    report(): { lastLine?: string; isBehind: boolean } {
      const total = spool.total();
      let lastText: string | undefined;
      const end = Math.min(total, Math.max(reported, total - MAX_BEHIND_BYTES) + MAX_TURN_BYTES);
      while (reported < end) {
        const { start, bytes } = spool.read(
          Math.max(reported, total - MAX_BEHIND_BYTES),
          Math.min(MAX_CHUNK_BYTES, end - reported),
        );
        if (bytes.length === 0) break;
        if (start > reported) emit({ kind: "missing", bytes: start - reported });
        lastText = emitBytes(bytes);
        reported = start + bytes.length;
      }
      const isBehind = reported < total;
      return lastText === undefined ? { isBehind } : { lastLine: toLastLine(lastText), isBehind };
    },
    /** Emits an incomplete last character. */
    end: () => emitText(stripper.push(decoder.decode())),
  };
}

const toLastLine = (text: string): string =>
  toPlainText(text).trimEnd().split("\n").at(-1)?.slice(0, MAX_MESSAGE_CHARS) ?? "";
