import type { ChildProcess } from "node:child_process";
import { type RpcServer, toCallLine } from "./json-rpc.ts";
import { type Effort, interleave, timed } from "./measure.ts";
import { onOneCpu } from "./one-cpu.ts";
import type { Bar, Row } from "./row.ts";
import type { Tree } from "./tree.ts";

export interface WorkTree extends Tree {
  /** Empty: writes go there. */
  readonly scratchFolder: string;
}

/** Passed to every case: both servers, running side by side, and their tree. */
export interface Bench {
  readonly tree: WorkTree;
  readonly octant: RpcServer;
  readonly noOp: RpcServer;
  readonly effort: Effort;
  readonly random: () => number;
  /** On the tree unless another root is given. */
  startOctant(root?: string, ...flags: string[]): Promise<RpcServer>;
  startNoOp(): Promise<RpcServer>;
  startWire(flags: readonly string[]): ChildProcess;
  /** The folder of the servers' control sockets. */
  readonly sockets: string;
}

export interface Case {
  readonly name: string;
  run(bench: Bench): Promise<Row>;
}

export interface CallCase {
  readonly name: string;
  readonly bar?: Bar;
  readonly note: string;
  readonly tool?: string;
  /** For calls so short that the CPU of each side matters. */
  readonly isShort?: true;
  /** Rounds count from 0, one by one. */
  toArguments(tree: WorkTree, round: number): object;
  /** The same work without a server; nothing when the call itself is measured. */
  direct?(tree: WorkTree, round: number): unknown;
  /** Throws unless the answer is the expected one. */
  // biome-ignore lint/suspicious/noExplicitAny: the data of any action.
  check(data: any): void;
}

/** Compares a call of ours with the direct work plus a no-op call that carries the same bytes both ways. */
export const callCase = (def: CallCase): Case => ({
  name: def.name,
  async run({ tree, octant, noOp, effort, random }) {
    const { name, bar, note, tool = "fs", toArguments, direct } = def;
    const first = await octant.exchange(toCallLine(tool, toArguments(tree, 0)));
    def.check(toData(first, name));
    await rememberAnswer(noOp, first);
    using _together = def.isShort && onOneCpu([octant.pid, noOp.pid]);

    const spreads = await interleave(
      {
        octant: async (round) => {
          const line = toCallLine(tool, toArguments(tree, round + 1));
          const { ms, answer } = await timeExchange(octant, line);
          if (answer.includes('"isError":true')) throw new Error(`${name}: ${answer}`);
          return ms;
        },
        noOp: async (round) => {
          const line = toCallLine("no_op", toArguments(tree, round + 1));
          return (await timeExchange(noOp, line)).ms;
        },
        direct: (round) => timed(() => direct?.(tree, round + 1)),
      },
      effort,
      random,
    );
    const floor = spreads.noOp.p50 + (direct ? spreads.direct.p50 : 0);
    const figure = spreads.octant.p50 / floor;
    return { name, unit: "ms", ...spreads, direct: direct && spreads.direct, figure, bar, note };
  },
});

/** Makes the no-op server repeat our last answer. */
export async function rememberAnswer(noOp: RpcServer, ours: Buffer): Promise<void> {
  const { result } = JSON.parse(ours.toString());
  const theirs = await noOp.exchange(toCallLine("remember", { answer: result }));
  if (Math.abs(theirs.length - ours.length) > MAX_FRAMING_BYTES) {
    throw new Error(
      `the no-op server answers ${theirs.length} bytes, Octant ${ours.length}; they must be equal`,
    );
  }
}

/** The allowed difference between the envelopes of the two servers: the order of keys, a timestamp. */
const MAX_FRAMING_BYTES = 256;

export function toData(answer: Buffer, name: string): unknown {
  const { result, error } = JSON.parse(answer.toString());
  if (error) throw new Error(`${name}: ${error.message}`);
  if (!result.structuredContent?.ok) throw new Error(`${name}: ${result.content[0]?.text}`);
  return result.structuredContent.data;
}

async function timeExchange(server: RpcServer, line: string): Promise<{ ms: number; answer: Buffer }> {
  const start = performance.now();
  const answer = await server.exchange(line);
  return { ms: performance.now() - start, answer };
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`);
}
