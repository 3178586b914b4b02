import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { lacks } from "../../../test/ui/lacks.ts";
import { HUB_LABEL } from "../src/containers/containers.ts";
import { chooseEngine } from "../src/engines/choose-engine.ts";
import type { ContainerEngine } from "../src/engines/engine.ts";

export const ENGINE_NAMES = ["local", "podman"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export interface TestEngine {
  readonly engine: ContainerEngine;
  /** Only for this test; mounted nowhere unless the test does. */
  readonly folder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** As `octant hub --engine NAME` opens it; or why this machine cannot run its containers. */
export async function openEngine(name: EngineName): Promise<TestEngine | string> {
  if (lacks(name === "local" ? "bubblewrap" : name)) return `${name} is not installed`;
  const folder = mkdtempSync(join(tmpdir(), "octant-engine-"));
  mkdirSync(join(folder, "hub"));
  const said: string[] = [];
  const log = (line: string) => said.push(line);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const engine = await chooseEngine({ engine: name, env: process.env, folder: join(folder, "hub"), log });
    await removeLeftOver(engine);
    return {
      engine,
      folder,
      async [Symbol.asyncDispose]() {
        await engine.close();
        remove();
      },
    };
  } catch (cause) {
    remove();
    if (cause instanceof ToolError) return [...said, cause.message].join("; ");
    throw cause;
  }
}

/** The containers of hubs whose folder is gone, as of tests that were killed. */
async function removeLeftOver(engine: ContainerEngine): Promise<void> {
  for (const { id, labels } of await engine.list({})) {
    const place = labels[HUB_LABEL];
    if (place !== undefined && !existsSync(place)) await engine.remove(id);
  }
}
