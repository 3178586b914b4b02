import type { Breakage, CreateParser, TestCase } from "../../src/test/case.ts";
import { createOutputLines } from "../../src/test/following.ts";

export interface Fed {
  readonly tests: TestCase[];
  readonly broken: Breakage[];
  readonly complete: boolean | undefined;
}

/** The findings of a parser for bytes in these chunks. */
export function feed(create: CreateParser, chunks: readonly Uint8Array[]): Fed {
  const tests: TestCase[] = [];
  const broken: Breakage[] = [];
  const parser = create({ test: (test) => tests.push(test), broken: (breakage) => broken.push(breakage) });
  const lines = createOutputLines(parser);
  for (const chunk of chunks) lines(Buffer.from(chunk));
  lines.flush();
  return { tests, broken, complete: parser.end() };
}

export const feedText = (create: CreateParser, text: string): Fed => feed(create, [Buffer.from(text)]);

/** `pass sums > adds`, for short expectations. */
export const summaryOf = ({ tests }: Fed): string[] =>
  tests.map(({ outcome, suite, name }) => `${outcome} ${[...suite, name].join(" > ")}`);
