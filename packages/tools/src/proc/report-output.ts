import type { Context } from "@octant/core";
import type { Processes } from "@octant/host";
import { toText } from "./output-text.ts";

/** Fast commands do not need progress. */
const TELL_AFTER_MS = 250;
const PROGRESS_EVERY_MS = 5_000;
const MAX_TOLD_BYTES = 8 * 1024;
const MAX_MESSAGE_CHARS = 200;

/**
 * Streams a process's output into its job's events, with the last line as its progress, until the returned function
 * is called.
 */
export function reportOutput(processes: Processes, owner: string, proc_id: string, ctx: Context): () => void {
  const started = performance.now();
  const reportProgress = (message: string) => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    ctx.progress({ progress: seconds, message: message || `running for ${seconds} s` });
  };
  const reported = { stdout: 0, stderr: 0 };
  const report = () => {
    for (const stream of ["stdout", "stderr"] as const) {
      const spool = processes.output(owner, proc_id, stream);
      // Of a flood only the newest part is reported; the ref has all of it.
      const { start, bytes } = spool.read(
        Math.max(reported[stream], spool.total() - MAX_TOLD_BYTES),
        MAX_TOLD_BYTES,
      );
      if (bytes.length === 0) continue;
      reported[stream] = start + bytes.length;
      const text = toText(bytes, false);
      ctx.emit({ kind: "text", text });
      reportProgress(text.trimEnd().split("\n").at(-1)?.slice(0, MAX_MESSAGE_CHARS) ?? "");
    }
  };
  let stopListening = () => {};
  const later = setTimeout(() => {
    report();
    stopListening = processes.onOutput(proc_id, report);
  }, TELL_AFTER_MS);
  const regularly = setInterval(reportProgress, PROGRESS_EVERY_MS, "");
  return () => {
    clearTimeout(later);
    clearInterval(regularly);
    stopListening();
    if (reported.stdout + reported.stderr > 0) report();
  };
}
