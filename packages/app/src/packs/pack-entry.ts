// The process of a pack. Its options come on stdin, which stays open as long as its host lives.
import { readLines } from "@octant/host";
import { runPack } from "./run-pack.ts";

const log = (line: string) => void process.stderr.write(`${line}\n`);
const hostEnded = Promise.withResolvers<void>();
const start = async (line: string) => {
  try {
    const server = await runPack({ ...JSON.parse(line), log });
    void hostEnded.promise.then(() => server.close()).finally(() => process.exit(0));
  } catch (cause) {
    log(cause instanceof Error ? cause.message : String(cause));
    process.exit(1);
  }
};
readLines(process.stdin, (line) => void start(line), hostEnded.resolve);
