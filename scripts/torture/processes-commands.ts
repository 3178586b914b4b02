import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { attempt } from "@octant/core";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { type ServedProject, serveProject } from "./processes-server.ts";
import { countDescriptors, listSeen, untilEmpty } from "./processes-table.ts";
import type { Report, Torture } from "./report.ts";

const WIDTH = 16;
const WARM_UP = 2 * WIDTH;
/** Closing descriptors, and preparing resources for the next commands, may take a moment. */
const SETTLING_MS = 2_000;

/** Short commands of several kinds, sixteen at a time. */
export const commands: Torture = async (count, _random, onProgress) => {
  using project = createFixtureProject();
  await using server = await serveProject(project);
  const violations: string[] = [];
  await runMany(server, WARM_UP, violations, () => {});
  await delay(SETTLING_MS);
  const parts = [
    { name: "server", pid: server.pid },
    { name: "supervisor", pid: server.supervisor().pid },
  ].map((part) => ({ ...part, before: ownDescriptors(part.pid) }));

  const start = performance.now();
  await runMany(server, count, violations, onProgress);
  const seconds = (performance.now() - start) / 1_000;

  const zombies = await untilEmpty(() => childrenOf(parts).filter(({ isZombie }) => isZombie), SETTLING_MS);
  for (const { pid, name } of zombies.left) violations.push(`${name} (${pid}) is a zombie`);
  await untilEmpty(() => parts.filter(({ pid, before }) => ownDescriptors(pid) > before), SETTLING_MS);
  const descriptors = parts.map(({ name, pid, before }) => {
    const after = ownDescriptors(pid);
    if (after > before) violations.push(`the ${name} had ${before} descriptors and has ${after}`);
    return `${name} ${before} → ${after}`;
  });
  const children = childrenOf(parts).filter((child) => !isWaiting(child)).length;
  if (children !== 1) violations.push(`${children} children are left, where only the supervisor should be`);
  return {
    what: `${count} short commands, ${WIDTH} at a time`,
    facts: `${(count / seconds).toFixed(0)} a second; descriptors: ${descriptors.join(", ")}; no zombie`,
    violations,
  } satisfies Report;
};

const childrenOf = (parents: readonly { readonly pid: number }[]) =>
  listSeen().filter(({ ppid }) => parents.some(({ pid }) => pid === ppid));

/** The input, output and errors of a sandbox that waits for a command. */
const DESCRIPTORS_OF_WAITING = 3;

/** Without those of sandboxes that wait for a command: whether one waits depends on the moment. */
const ownDescriptors = (pid: number): number =>
  countDescriptors(pid) - DESCRIPTORS_OF_WAITING * childrenOf([{ pid }]).filter(isWaiting).length;

const isWaiting = ({ pid }: { readonly pid: number }): boolean =>
  (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").endsWith("\0--\0/bin/sh\0");

async function runMany(
  server: ServedProject,
  count: number,
  violations: string[],
  onProgress: (done: number) => void,
): Promise<void> {
  let begun = 0;
  let done = 0;
  const work = async () => {
    while (begun < count && violations.length === 0) {
      const wrong = await runOne(server, begun++);
      if (wrong) violations.push(wrong);
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
}

/** Kinds of commands: without and with a shell, with input, with output on both streams, that fail, that do not exist. */
const KINDS: readonly ((n: number) => { readonly input: object; readonly expected: object })[] = [
  () => ({ input: { command: ["true"] }, expected: { exit_code: 0, stdout: "" } }),
  (n) => ({ input: { command: `echo ${n}` }, expected: { exit_code: 0, stdout: `${n}\n` } }),
  (n) => ({ input: { command: ["cat"], stdin: `in ${n}` }, expected: { exit_code: 0, stdout: `in ${n}` } }),
  (n) => ({
    input: { command: `echo out; echo ${n} >&2; exit 3` },
    expected: { exit_code: 3, stdout: "out\n", stderr: `${n}\n` },
  }),
  () => ({ input: { command: "kill -9 $$" }, expected: { signal: "SIGKILL" } }),
  () => ({ input: { command: ["no-such-program"] }, expected: { code: "EXEC_FAILED" } }),
];

async function runOne(server: ServedProject, n: number): Promise<string | undefined> {
  const { input, expected } = KINDS[n % KINDS.length]!(n);
  const { data, error } = await server.call("proc", "exec", input);
  const actual: Record<string, unknown> = { ...data, ...error };
  const isRight = Object.entries(expected).every(([name, value]) => actual[name] === value);
  return isRight ? undefined : `${JSON.stringify(input)}: ${JSON.stringify(actual)}`;
}
