import { expect, test } from "vitest";
import { runTrusted } from "./run-trusted.ts";
import { thisNode } from "./trusted-program.ts";

/** Prints two lines and half of a third one, and never ends by itself. */
const PRINTS = 'process.stderr.write("one\\ntwo\\nthree"); setInterval(() => {}, 1_000);';

test("lines of stderr are reported while the program runs, and the last one at its end", async () => {
  const stop = new AbortController();
  const lines: string[] = [];
  const ran = runTrusted(thisNode(), ["-e", PRINTS], {
    ...{ env: {}, timeoutMs: 60_000, signal: stop.signal },
    onStderrLine(line) {
      lines.push(line);
      // It still runs, and only this ends it.
      if (line === "two") stop.abort();
    },
  });
  await expect(ran).rejects.toThrow();
  expect(lines.slice(0, 2)).toEqual(["one", "two"]);
});

test("the result has the end of stderr, told line by line or not", async () => {
  const lines: string[] = [];
  const { code, stderr } = await runTrusted(thisNode(), ["-e", 'process.stderr.write("one\\ntwo")'], {
    ...{ env: {}, timeoutMs: 60_000, onStderrLine: (line) => lines.push(line) },
  });
  expect({ code, stderr, lines }).toEqual({ code: 0, stderr: "one\ntwo", lines: ["one", "two"] });
});
