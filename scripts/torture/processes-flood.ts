import { createFixtureProject } from "../../test/fixture-project.ts";
import { type AnyData, type ServedProject, serveProject } from "./processes-server.ts";
import { forgetPeak, peakMegabytes, residentMegabytes } from "./processes-table.ts";
import type { Report, Torture } from "./report.ts";

/** The command itself takes 30 MB; the rest is reading ranges in one line of 40 MB, 99 to 111 MB in all. */
const MAX_GROWTH_MB = 120;
const BUDGET_BYTES = 32 * 1024;
/** The line that marks the omitted part does not count towards the budget. */
const MAX_NOTE_BYTES = 256;

/** Numbers of ten digits, each followed by a comma: the content follows from the offset. */
const FIRST = 1_000_000_000;
const ITEM_BYTES = 11;
const textAt = (offset: number, length: number): string => {
  const first = Math.floor(offset / ITEM_BYTES);
  const items = Array.from({ length: Math.ceil(length / ITEM_BYTES) + 1 }, (_, n) => `${FIRST + first + n},`);
  return items.join("").slice(offset % ITEM_BYTES, (offset % ITEM_BYTES) + length);
};

const RANGE_BYTES = 10_000;

/** Prints this many megabytes on one line. */
export const flood: Torture = async (megabytes, _random, onProgress) => {
  using project = createFixtureProject();
  await using server = await serveProject(project);
  // The first command starts the supervisor, whose cost does not belong to the flood.
  await server.data("proc", "exec", { command: ["true"] });
  const parts = { server: server.pid, supervisor: server.supervisor().pid };
  const before = Object.entries(parts).map(([name, pid]) => {
    forgetPeak(pid);
    return { name, pid, megabytes: residentMegabytes(pid) };
  });

  const items = Math.ceil((megabytes * 1e6) / ITEM_BYTES);
  const total = items * ITEM_BYTES;
  const command = `seq ${FIRST} ${FIRST + items - 1} | tr '\\n' ','`;
  const start = performance.now();
  let answer = await server.data("proc", "exec", { command });
  while (answer.status === "running")
    answer = { ...answer, ...(await server.data("proc", "logs", { ...FOLLOW, proc_id: answer.proc_id })) };
  const seconds = (performance.now() - start) / 1_000;
  const violations = [...checkAnswer(answer, total), ...(await checkRanges(server, answer, total))];

  const growth = before.map(({ name, pid, megabytes: was }) => {
    const grown = peakMegabytes(pid) - was;
    if (grown > MAX_GROWTH_MB) violations.push(`the ${name} grew by ${grown.toFixed(0)} MB`);
    return `${name} +${grown.toFixed(1)} MB`;
  });
  onProgress(megabytes);
  return {
    what: `${megabytes} MB on one line`,
    facts: `${growth.join(", ")} at the peak; ${seconds.toFixed(1)} s, ${Buffer.byteLength(answer.stdout)} bytes in the answer`,
    violations,
  } satisfies Report;
};

const FOLLOW = { follow: true, wait: 30_000, max_bytes: 1 };

function checkAnswer({ stdout, stdout_bytes, exit_code, truncated }: AnyData, total: number): string[] {
  const [head = "", tail = ""] = String(stdout).split(/\n\[… \d+ bytes left out; [^\n]*\]\n/);
  return [
    ...(exit_code === 0 && truncated ? [] : [`exit code ${exit_code}, truncated ${truncated}`]),
    ...(stdout_bytes === total ? [] : [`${stdout_bytes} bytes were counted, ${total} printed`]),
    ...(Buffer.byteLength(stdout) <= BUDGET_BYTES + MAX_NOTE_BYTES
      ? []
      : [`${Buffer.byteLength(stdout)} bytes in the answer`]),
    ...(head.length > 0 && head === textAt(0, head.length) ? [] : ["the head is wrong"]),
    ...(tail.length > 0 && tail === textAt(total - tail.length, tail.length) ? [] : ["the tail is wrong"]),
  ];
}

/** Reads the ref at its start, deep in its head, and at its end, as text and as bytes. */
async function checkRanges(server: ServedProject, { stdout_ref: uri, proc_id }: AnyData, total: number) {
  const { size } = await server.data("fs", "read", { uri, max_bytes: 1 });
  const read = (start: number, encoding: string) => {
    const range = { start: { line: 0, col: start }, end: { line: 0, col: start + RANGE_BYTES } };
    return server.data("fs", "read", { uri, range, encoding, max_bytes: 2 * RANGE_BYTES });
  };
  const wrong: string[] = [];
  for (const place of [0, 1_234_567]) {
    const { text } = await read(place, "utf-8");
    if (text !== textAt(place, RANGE_BYTES)) wrong.push(`the ref is wrong at ${place}`);
  }
  const { base64 } = await read(size - RANGE_BYTES, "base64");
  if (Buffer.from(base64 ?? "", "base64").toString() !== textAt(total - RANGE_BYTES, RANGE_BYTES))
    wrong.push("the ref is wrong at its end");
  const since = total - 5 * RANGE_BYTES;
  const { text, start } = await server.data("proc", "logs", { proc_id, since, max_bytes: RANGE_BYTES });
  if (start !== since || text !== textAt(since, RANGE_BYTES)) wrong.push("the logs are wrong near the end");
  return wrong;
}
