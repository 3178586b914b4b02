import { expect, test } from "vitest";
import { CERTIFICATES, passedEnvironment } from "../processes/environment.ts";
import { divideVariables, toLimitCommands } from "./launcher.ts";

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

test("variables that commands inherit reach the command without a file, and code for the launcher does not", () => {
  const names = ["PATH", "HOME", "LC_ALL", "https_proxy", "JAVA_HOME", ...CERTIFICATES];
  const inherited = passedEnvironment(Object.fromEntries(names.map((name) => [name, "/some/where"])));
  expect(Object.keys(inherited)).toEqual(names);
  expect(divideVariables({ ...inherited, LD_PRELOAD: "/code.so", ENV: "/code.sh" })).toEqual({
    passed: inherited,
    inside: { LD_PRELOAD: "/code.so", ENV: "/code.sh" },
  });
});
