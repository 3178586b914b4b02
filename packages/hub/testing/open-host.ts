import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsAddress } from "@octant/wire";
import { onTestFinished } from "vitest";
import { CONTAINED_LAUNCHER } from "../../../test/published-command.ts";
import { type ContainerEngine, chooseEngine, createHost, toInstall } from "../src/index.ts";

const MAX_SESSIONS = 4;
const MEMORY_MB = 8_192;

export interface TestHostOptions {
  readonly nats: NatsAddress;
  readonly labels?: readonly string[];
  readonly maxSessions?: number;
  readonly memoryMb?: number;
  /** The sandbox of this machine when absent. */
  readonly engine?: ContainerEngine;
  /** A new one when absent. */
  readonly folder?: string;
}

/** A host of this process with an empty folder. */
export async function openHost({ nats, labels = [], engine, folder: given, ...limits }: TestHostOptions) {
  const folder = given ?? mkdtempSync(join(tmpdir(), "octant-host-"));
  const log: string[] = [];
  const add = (line: string) => void log.push(line);
  const host = await createHost({
    ...{ nats, folder, labels, name: "test", log: add },
    maxSessions: limits.maxSessions ?? MAX_SESSIONS,
    memoryMb: limits.memoryMb ?? MEMORY_MB,
    // The engine outlives the host when the test gives it.
    engine: engine
      ? { ...engine, close: async () => {} }
      : await chooseEngine({ engine: "local", env: process.env, folder, log: add }),
    install: toInstall(CONTAINED_LAUNCHER),
  });
  onTestFinished(async () => {
    await host.close();
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  });
  return { host, log, folder };
}
