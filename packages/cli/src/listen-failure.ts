import { errnoOf } from "@octant/host";
import { UsageError } from "./command.ts";

const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: "stop the program that has the port, or pass --port 0 for a free one",
  EADDRNOTAVAIL: "--host is an address of this machine",
  EACCES: "--port 7300, or another above 1023, is for everybody",
};

/** With what to do about it, where a command could not listen on its port; other errors are unchanged. */
export function explainListening(cause: unknown): unknown {
  const hint = HINTS[errnoOf(cause) ?? ""];
  const isListening = cause instanceof Error && "syscall" in cause && cause.syscall === "listen";
  return hint !== undefined && isListening ? new UsageError(cause.message, hint) : cause;
}
