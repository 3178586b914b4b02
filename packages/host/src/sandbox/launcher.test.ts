import { expect, test } from "vitest";
import { toLimitCommands } from "./launcher.ts";

const told = (hard: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 ${hard.padEnd(20)} files\n`;

test.each(["1048576", "unlimited"])("where a process may open %s files, a command may open fewer", (hard) => {
  expect(toLimitCommands({}, told(hard))).toBe("ulimit -c 0; ulimit -n 65536");
});

test("a lower limit is not raised", () => {
  expect(toLimitCommands({}, told("4096"))).toBe("ulimit -c 0");
  expect(toLimitCommands({}, "")).toBe("ulimit -c 0");
});

test("without a control group the memory of each process is limited", () => {
  expect(toLimitCommands({ memory_bytes: 64 * 1024 * 1024 }, "")).toBe("ulimit -c 0; ulimit -d 65536");
});
