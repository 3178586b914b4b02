import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Call, type Envelope, ToolError } from "@octant/core";
import { LOCAL_CALLER } from "../edges.ts";
import { type Octant, openOctant } from "../octant.ts";
import { findPack } from "./choose-packs.ts";
import { type FoundPack, readPack } from "./read-pack.ts";

export interface PackTrial {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

const IMPORTS = fileURLToPath(new URL(`./pack-imports-entry${extname(import.meta.url)}`, import.meta.url));
const MAX_TEST_MS = 10 * 60 * 1_000;

/** Loads a pack as a server would, runs the examples of its tools in an empty workspace, and then its own tests. */
export async function testPack(
  from: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<readonly PackTrial[]> {
  const pack = readPack(findPack(from, { env, cwd }));
  const root = mkdtempSync(join(tmpdir(), "octant-pack-test-"));
  try {
    const examples = await runExamples(pack, root, env);
    return [...examples, ...(await runTests(pack, env))];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function runExamples(pack: FoundPack, root: string, env: NodeJS.ProcessEnv): Promise<PackTrial[]> {
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  await using octant = await openOctant({ roots: [root], packs: [pack.folder], tools: ["job"], env, log });
  const own = octant.packs.status().flatMap(({ tools }) => tools);
  const trials: PackTrial[] = [{ name: "loads", ok: true, detail: `${pack.version}: ${own.join(", ")}` }];
  for (const tool of octant.registry.list().filter(({ name }) => own.includes(name)))
    for (const [action, { examples, builtin }] of Object.entries(tool.actions))
      for (const { title, input, fails = "OK" } of builtin ? [] : examples) {
        logged.length = 0;
        const { ok, error } = await outcomeOf(octant, { tool: tool.name, action, input });
        const got = ok ? "OK" : error.code;
        const detail =
          got === fails ? got : [`${fails} was expected, not ${error?.message ?? got}`, ...logged].join("\n");
        trials.push({ name: `${tool.name}.${action}: ${title}`, ok: got === fails, detail });
      }
  return trials;
}

async function outcomeOf(octant: Octant, call: Call): Promise<Envelope> {
  const { envelope } = await octant.dispatch(call, { caller: LOCAL_CALLER });
  const { job_id } = envelope.meta;
  if (job_id === undefined) return envelope;
  const { jobs } = octant.workspace;
  await jobs.ended(LOCAL_CALLER.id, job_id, MAX_TEST_MS, AbortSignal.timeout(MAX_TEST_MS));
  return (await jobs.result(LOCAL_CALLER.id, job_id)) ?? envelope;
}

/** The pack's own tests run in the sandbox for commands, in the pack's folder. */
async function runTests({ folder }: FoundPack, env: NodeJS.ProcessEnv): Promise<PackTrial[]> {
  const files = globSync("**/*.test.{ts,js,mjs}", { cwd: folder, exclude: ["**/node_modules"] }).sort();
  if (files.length === 0) return [{ name: "tests", ok: true, detail: "none: *.test.ts would be run" }];
  await using octant = await openOctant({ roots: [folder], tools: ["proc", "job"], env });
  const command = [process.execPath, "--import", IMPORTS, "--test", ...files];
  const { ok, data, error } = await outcomeOf(octant, { tool: "proc", action: "exec", input: { command } });
  if (!ok) throw new ToolError(error.code, error.message, error.details);
  const { exit_code, stdout = "", stderr = "" } = Object(data);
  const detail = exit_code === 0 ? files.join(", ") : `exit code ${exit_code}\n${stdout}${stderr}`;
  return [{ name: "tests", ok: exit_code === 0, detail }];
}
