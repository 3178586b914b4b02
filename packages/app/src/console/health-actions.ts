import { action } from "@octant/core";
import { readAudit } from "@octant/runtime";
import { z } from "zod";
import { auditPlaceOf } from "../audit-place.ts";
import { checkHere } from "../health/check-here.ts";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { DoctorCheck, HealthState, SandboxState } from "./shapes.ts";

const MAX_COUNTED = 20_000;

export const sandbox = ({ octant }: ConsoleParts) =>
  action({
    summary: "Show what confines commands here, and why stronger levels do not work.",
    ...READ,
    input: z.strictObject({}),
    output: SandboxState,
    examples: [{ title: "The level", input: {} }],
    async run() {
      const { sandbox: own } = octant.workspace;
      const { mode, level, detail, tried, unmet, limits } = await own.status();
      return {
        mode,
        level,
        detail,
        tried: tried.map((one) => ({ ...one })),
        ...(unmet !== undefined && { unmet }),
        ...(limits !== undefined && { limits }),
        unconfined: (await own.unconfined())?.reason ?? null,
      };
    },
  });

export const doctor = ({ octant, env }: ConsoleParts) =>
  action({
    summary: "Check that Octant works for this project, and say what to do if it does not.",
    ...READ,
    input: z.strictObject({}),
    output: z.object({ checks: z.array(DoctorCheck) }),
    examples: [{ title: "Check it", input: {} }],
    async run() {
      const checks = await checkHere(octant, env);
      return { checks: checks.map((one) => ({ ...one, extra: one.extra === true })) };
    },
  });

export const health = ({ octant, version }: ConsoleParts) =>
  action({
    summary: "Show memory and CPU time of this process, and latencies and errors of recent calls per action.",
    ...READ,
    input: z.strictObject({
      calls: z.int().min(1).max(MAX_COUNTED).default(5_000).describe("How many of the newest are counted"),
    }),
    output: HealthState,
    examples: [{ title: "Now", input: {} }],
    run({ calls }) {
      const { rss, heapUsed, external } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const { folder } = auditPlaceOf(octant.workspace.state);
      const records = readAudit(folder, { limit: calls }).filter((one) => one.kind === "call");
      return {
        pid: process.pid,
        version,
        node: process.version,
        platform: `${process.platform} ${process.arch}`,
        uptime_s: process.uptime(),
        memory: { rss, heap_used: heapUsed, external },
        cpu_ms: (user + system) / 1_000,
        since: records[0]?.time ?? null,
        latencies: toLatencies(records),
      };
    },
  });

interface CountedCall {
  readonly action: string;
  readonly duration: number;
  readonly code: string;
}

function toLatencies(calls: readonly CountedCall[]) {
  const byAction = Map.groupBy(calls, (one) => one.action);
  return [...byAction]
    .map(([name, some]) => {
      const sorted = some.map(({ duration }) => duration).toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      return {
        action: name,
        calls: some.length,
        errors: some.filter(({ code }) => code !== "OK").length,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        max: at(1),
      };
    })
    .sort((a, b) => b.calls - a.calls);
}
