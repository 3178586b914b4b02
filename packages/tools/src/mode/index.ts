import { type ActionText, action, defineTool, MODE_NAMES, MODES } from "@octant/core";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { type ActiveModes, MODE_TOOL } from "./active-modes.ts";
import type { DeveloperMode } from "./modes.ts";

export { type ActiveModes, createActiveModes } from "./active-modes.ts";
export type { DeveloperMode } from "./modes.ts";

const ModeName = z.string().regex(/^[a-z][\w-]{0,39}$/, "the name of a mode, as mode.list shows it");
/** Ends a mode; reserved as a mode name. */
const NONE = "default";

const Summary = z.object({ name: z.string(), summary: z.string() });
const ModeView = Summary.extend({
  prompt: z.string().describe("How to work in it"),
  tools: z
    .array(z.string())
    .readonly()
    .optional()
    .describe("The only tools that may be called; all when absent"),
  allows: z.enum(MODE_NAMES).optional(),
  limits: z
    .object({ max_turns: z.number(), max_cost: z.number(), max_time_ms: z.number() })
    .partial()
    .optional()
    .describe("Of each run of the agent"),
});
const Current = z.object({ mode: ModeView.nullable().describe("Null: everything is allowed") });

/** Ways of working. A caller's mode changes nothing in the project, so it needs no write access. */
export const mode = (modes: ActiveModes) =>
  defineTool({
    name: MODE_TOOL,
    summary: "Work in a developer mode: instructions for one kind of work, with the tools it needs.",
    listing: "brief",
    actions: {
      list: action({
        summary: "List the modes and the active one.",
        ...INSPECT,
        input: z.strictObject({}),
        output: z.object({ modes: z.array(Summary), active: z.string().nullable() }),
        examples: [{ title: "List the modes", input: {} }],
        text: ({ modes: all, active }) => ({
          body: all.map(({ name, summary }) => `${name}: ${summary}`).join("\n"),
          notes: [active === null ? "no mode is active" : `active: ${active}`],
        }),
        run: (_, { caller }) => ({
          modes: modes.all.map(({ name, summary }) => ({ name, summary })),
          active: modes.current(caller.id)?.name ?? null,
        }),
      }),
      activate: action({
        summary: "Work in a mode from now on; calls it does not have are refused. The name default ends it.",
        ...INSPECT,
        input: z.strictObject({ name: ModeName }),
        output: Current,
        errors: ["NOT_FOUND"],
        examples: [{ title: "Only look", input: { name: "reviewer" } }],
        text: currentText,
        run: ({ name }, { caller }) => ({
          mode: toView(modes.activate(caller.id, name === NONE ? undefined : name)),
        }),
      }),
      show: action({
        summary: "A mode with its instructions, tools and limits.",
        ...INSPECT,
        input: z.strictObject({ name: ModeName }),
        output: ModeView,
        errors: ["NOT_FOUND"],
        examples: [{ title: "Describe the debug mode", input: { name: "debugger" } }],
        text: (view) => ({ body: toText(view) }),
        run: ({ name }) => ({ ...modes.find(name) }),
      }),
      current: action({
        summary: "The mode you work in.",
        ...INSPECT,
        input: z.strictObject({}),
        output: Current,
        examples: [{ title: "Which one", input: {} }],
        text: currentText,
        run: (_, { caller }) => ({ mode: toView(modes.current(caller.id)) }),
      }),
    },
  });

const toView = (active: DeveloperMode | undefined) => (active ? { ...active } : null);

const currentText = ({ mode: active }: z.output<typeof Current>): ActionText => ({
  body: active ? toText(active) : "no mode is active; everything is allowed",
});

const toText = ({ name, summary, prompt, tools, allows, limits }: z.output<typeof ModeView>): string =>
  [
    `${name}: ${summary}`,
    prompt,
    ...(tools ? [`tools: ${tools.join(", ")}`] : []),
    ...(allows ? [`allows: ${MODES[allows].intents.join(", ")}`] : []),
    ...Object.entries(limits ?? {}).map(([limit, value]) => `${limit}: ${value}`),
  ].join("\n");
