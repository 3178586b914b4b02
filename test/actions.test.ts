import { pathToFileURL } from "node:url";
import { createOctant, type Octant } from "@octant/app";
import { createShorten, createToText, type Envelope, toInputSchema } from "@octant/core";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { OWN_TOOLS } from "../packages/app/src/tools/own-tools.ts";
import { arbitraryInput } from "./arbitrary-input.ts";
import { createFixtureProject } from "./fixture-project.ts";

/** `npm run torture -- --only fuzz-runs` has more. A failure prints its seed. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 8);
/** An action that builds an index or starts a browser gets fewer runs on a busy machine. */
const MAX_FUZZ_MS = RUNS * 1_000;
const caller = { id: "test", access: "admin" } as const;

/** A server in its own project, with all tools or with those that are named. */
function openProject(tools: readonly string[] = Object.keys(OWN_TOOLS)) {
  const project = createFixtureProject();
  const bugs: unknown[] = [];
  const octant = createOctant({
    projectPath: project.root,
    env: project.env,
    tools: [...tools],
    onBug: (bug) => bugs.push(bug),
  });
  const call = async (tool: string, action: string, input: unknown) =>
    (await octant.dispatch({ tool, action, input }, { caller, timingHint: "async_short" })).envelope;
  const roots = [pathToFileURL(project.root).href];
  const shorten = createShorten(octant.registry, roots);
  const toText = createToText(octant.registry, roots);
  /** Writes the answer in each form that a client may ask for; throws when one cannot be written. */
  const write = (envelope: Envelope) => {
    expect(shorten(envelope).ok).toBe(envelope.ok);
    expect(toText(envelope)).toBeDefined();
  };
  const close = async () => {
    await octant.close();
    project[Symbol.dispose]();
  };
  return { octant, bugs, call, write, close };
}

const everyAction = ({ registry }: Octant) =>
  registry.list().flatMap((tool) =>
    Object.entries(tool.actions).map(([name, act]) => ({
      label: `${tool.name}.${name}`,
      tool: tool.name,
      name,
      act,
    })),
  );

/** For actions that change nothing; it also lists them all. */
const shared = openProject();
const actions = everyAction(shared.octant);
afterAll(shared.close);

/** An example assumes the project as it came; others would see what it changes, including a page left open. */
const projectFor = (tool: string, access: string) =>
  access !== "read" || tool === "ui" ? openProject([tool]) : { ...shared, close: async () => {} };

describe("every example of every action works", () => {
  const examples = actions.flatMap(({ label, act, ...action }) =>
    act.examples.map(
      (example) => [`${label}: ${example.title}`, { ...action, ...example, access: act.access }] as const,
    ),
  );
  test.each(examples)("%s", async (_label, { tool, name, input, fails, access }) => {
    const { call, write, close } = projectFor(tool, access);
    const envelope = await call(tool, name, input);
    expect(envelope.error?.code).toBe(fails);
    write(envelope);
    await close();
  });
});

describe("arguments from a confused model never cause a bug or a hang", () => {
  /** One project for each tool: whatever its actions leave there must not cause a bug either. */
  const wrecked = new Map<string, ReturnType<typeof openProject>>();
  afterAll(async () => {
    for (const { close } of wrecked.values()) await close();
  });

  test.each(actions)(
    "$label",
    async ({ tool, name, act }) => {
      const project = wrecked.get(tool) ?? openProject([tool]);
      wrecked.set(tool, project);
      const { call, write, bugs } = project;
      await fc.assert(
        fc.asyncProperty(arbitraryInput(toInputSchema(act)), async (input) => {
          const envelope = await call(tool, name, input);
          expect(bugs.splice(0)).toEqual([]);
          expect(envelope.error?.code).not.toBe("INTERNAL");
          expect(envelope.meta).toMatchObject({ tool, action: name });
          write(envelope);
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: MAX_FUZZ_MS },
      );
    },
    60_000 + MAX_FUZZ_MS,
  );
});
