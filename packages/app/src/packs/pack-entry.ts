// The process of a pack. Its options come on stdin, which stays open as long as its host lives.
import { createInterface } from "node:readline";
import { runPack } from "./run-pack.ts";

const log = (line: string) => void process.stderr.write(`${line}\n`);
const lines = createInterface({ input: process.stdin });
lines.once("line", async (line) => {
  try {
    const server = await runPack({ ...JSON.parse(line), log });
    lines.once("close", () => void server.close().finally(() => process.exit(0)));
  } catch (cause) {
    log(cause instanceof Error ? cause.message : String(cause));
    process.exit(1);
  }
});
