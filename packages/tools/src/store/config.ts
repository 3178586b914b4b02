import { action, defineTool, ToolError } from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

/** A setting in effect, with the file or variable it comes from. */
export interface SettingInEffect {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
}

export const config = (settings: () => readonly SettingInEffect[]) =>
  defineTool({
    name: "config",
    summary: "The settings in effect, without secrets.",
    actions: {
      get: action({
        summary: "Show settings with the source of each.",
        ...INSPECT,
        input: z.strictObject({
          key: z.string().min(1).max(128).optional().describe("For example sandbox or sandbox.mode"),
        }),
        output: z.object({
          settings: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
        }),
        errors: ["NOT_FOUND"],
        examples: [
          { title: "All", input: {} },
          { title: "Sandbox settings", input: { key: "sandbox" } },
        ],
        run({ key }) {
          const all = settings();
          const found = all.filter(
            (one) => key === undefined || one.key === key || one.key.startsWith(`${key}.`),
          );
          if (found.length > 0 || key === undefined) return { settings: found.map((one) => ({ ...one })) };
          const known = [...new Set(all.map((one) => one.key.split(".")[0]))].join(", ");
          throw new ToolError("NOT_FOUND", `no setting '${key}'; sections: ${known}`, { id: key });
        },
      }),
    },
  });
