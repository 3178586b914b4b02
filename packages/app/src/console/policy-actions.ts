import { action, MODES, type Mode } from "@octant/core";
import { explainConfig } from "@octant/runtime";
import { z } from "zod";
import { explainCall } from "../explain-call.ts";
import { READ } from "./kinds.ts";
import type { ConsoleParts } from "./parts.ts";
import { Explanation, HookRow, SettingRow } from "./shapes.ts";

// The keys of the table are the modes.
const MODE_NAMES = Object.keys(MODES) as [Mode, ...Mode[]];

export const explain = ({ octant }: ConsoleParts) =>
  action({
    summary: "Explain which rule, tier, mode, hook and sandbox decide a call; nothing is called.",
    ...READ,
    input: z.strictObject({
      action: z.string().describe("Such as fs.write"),
      input: z.record(z.string(), z.unknown()).default({}).describe("It need not be complete"),
      permissions: z.enum(["host", "enforce"]).default("host"),
      mode: z.enum(MODE_NAMES).optional(),
    }),
    output: Explanation,
    errors: ["UNKNOWN_TOOL", "UNKNOWN_ACTION"],
    examples: [{ title: "A write", input: { action: "fs.write", input: { uri: "src/main.ts" } } }],
    // Plain JSON: the explanation has rules and patterns as the settings have them.
    run: async ({ action: name, ...request }) =>
      Explanation.parse(structuredClone(await explainCall(octant, { name, ...request }))),
  });

export const settings = ({ octant }: ConsoleParts) =>
  action({
    summary: "Show the settings in effect and where each comes from, and the hooks.",
    ...READ,
    input: z.strictObject({ key: z.string().optional().describe("Only this key and those below it") }),
    output: z.object({
      settings: z.array(SettingRow),
      hooks: z.array(HookRow),
      warnings: z.array(z.string()),
    }),
    examples: [{ title: "All of them", input: {} }],
    run: ({ key }) => ({
      settings: explainConfig(octant.config, key).map(({ origin, ...row }) => ({ ...row, ...origin })),
      hooks: octant.config.settings.hooks.map((hook) => HookRow.parse(hook)),
      warnings: [...octant.config.warnings],
    }),
  });
