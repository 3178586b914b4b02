import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createStdioTransport } from "./stdio-transport.ts";

test("a program that starts while its transport is closed is ended", async () => {
  const started = Promise.withResolvers<void>();
  let ends = 0;
  const { transport } = createStdioTransport(async () => {
    await started.promise;
    return {
      input: new PassThrough(),
      output: new PassThrough(),
      exited: new Promise<string>(() => {}),
      stderrTail: () => "",
      async end() {
        ends += 1;
      },
    };
  });
  const starting = transport.start();
  await transport.close();
  started.resolve();
  await expect(starting).rejects.toThrow("the server was closed");
  expect(ends).toBe(1);
});
