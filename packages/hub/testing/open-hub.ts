import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller, Clock, Envelope } from "@octant/core";
import type { NatsAddress } from "@octant/wire";
import { onTestFinished } from "vitest";
import { CONTAINED_LAUNCHER } from "../../../test/published-command.ts";
import { type ContainerEngine, createHub, toInstall } from "../src/index.ts";
import { createUnconfinedEngine } from "./unconfined-engine.ts";

export const ADMIN: Caller = { id: "admin", access: "admin" };

/** A hub with an empty home, and a git repository as the source of projects. */
export async function openHub(
  options: {
    readonly folder?: string;
    readonly env?: Record<string, string>;
    /** The tools then run in its containers; without one they run on this machine. */
    readonly engine?: ContainerEngine;
    /** Hosts that pull from this server run them. */
    readonly nats?: NatsAddress;
    readonly clock?: Clock;
    readonly netAllow?: readonly string[];
    readonly database?: string;
    readonly lifeMs?: number;
    /** The launcher of the install that containers mount; the built command when absent. */
    readonly launcher?: string;
  } = {},
) {
  const { folder: given } = options;
  const folder = given ?? mkdtempSync(join(tmpdir(), "octant-hub-"));
  const env = {
    ...options.env,
    PATH: process.env.PATH,
    HOME: join(folder, "home"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  mkdirSync(env.HOME, { recursive: true });
  const log: string[] = [];
  const hub = await createHub({
    folder: join(folder, "hub"),
    env,
    engine: options.nats ? { nats: options.nats } : (options.engine ?? createUnconfinedEngine()),
    install:
      options.engine || options.nats
        ? toInstall(options.launcher ?? CONTAINED_LAUNCHER)
        : {
            id: "none",
            mounts: [],
            env: {},
            node: process.execPath,
            toolsOf: () => ({ argv: [process.execPath, CONTAINED_LAUNCHER, "serve", "--wire"], env: {} }),
          },
    log: (line) => log.push(line),
    ...(options.clock && { clock: options.clock }),
    ...(options.netAllow && { netAllow: options.netAllow }),
    ...(options.database !== undefined && { database: options.database }),
    ...(options.lifeMs !== undefined && { lifeMs: options.lifeMs }),
  });
  onTestFinished(async () => {
    const left = await hub.containers.list();
    await hub[Symbol.asyncDispose]();
    // A hub only stops its containers; this one does not come back.
    if (given === undefined) for (const { id } of left) await options.engine?.remove(id);
    if (given === undefined) rmSync(folder, { recursive: true });
  });
  const call = async (name: string, input: object = {}, caller: Caller = ADMIN): Promise<Envelope> => {
    const [tool = "", action = ""] = name.split(".");
    return (await hub.octant.dispatch({ tool, action, input }, { caller })).envelope;
  };
  return {
    hub,
    call,
    log,
    folder,
    /** The data of a call that must work. */
    async get<T = Record<string, never>>(
      name: string,
      input: object = {},
      caller: Caller = ADMIN,
    ): Promise<T> {
      const { ok, data, error } = await call(name, input, caller);
      if (!ok) throw new Error(`${name}: ${error?.code} ${error?.message}`);
      // The test knows what the action answers.
      return data as T;
    },
    createSource: () => createSource(folder),
  };
}

/** A repository with one commit on `main`. */
export function createSource(folder: string): string {
  const source = join(folder, "source");
  mkdirSync(source);
  git(source, "init", "-q", "-b", "main");
  writeFileSync(join(source, "a.txt"), "one\n");
  git(source, "add", "-A");
  git(source, "commit", "-qm", "First");
  return source;
}

export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync(
    "git",
    ["-C", folder, "-c", "user.name=Test", "-c", "user.email=test@octant.invalid", ...args],
    {
      encoding: "utf8",
    },
  );
