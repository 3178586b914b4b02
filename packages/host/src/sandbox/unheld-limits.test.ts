import { expect, test } from "vitest";
import { DEFAULT_SANDBOX } from "./settings.ts";
import { unheldLimits } from "./unheld-limits.ts";

const NONE = { memory: null, processes: null };
const ALL = { memory: "cgroup v2", processes: "cgroup v2" };
const LIMITED = { ...DEFAULT_SANDBOX, memory_bytes: 1e9, max_processes: 100 };

test("limits that no control group enforces are named, and only those that were set", () => {
  expect(unheldLimits(LIMITED, () => NONE)).toMatch(
    /memory_bytes holds only for each process and .*max_processes does not/,
  );
  expect(unheldLimits({ ...LIMITED, max_processes: undefined } as never, () => NONE)).not.toMatch(
    /max_processes/,
  );
  expect(unheldLimits(LIMITED, () => ({ ...ALL, processes: null }))).toMatch(/^sandbox.max_processes/);
  expect(unheldLimits(LIMITED, () => ALL)).toBeUndefined();
  expect(unheldLimits(DEFAULT_SANDBOX, () => expect.unreachable())).toBeUndefined();
});
