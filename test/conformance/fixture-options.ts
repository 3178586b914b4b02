import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createCursors,
  createDispatcher,
  createJobEvents,
  createJobs,
  createRegistry,
  defineTool,
  type ListingOptions,
  toInputSchema,
} from "@octant/core";
import { createJobStore, systemClock } from "@octant/host";
import type { ServiceOptions } from "@octant/mcp";
import { toResult } from "./fixture-content.ts";
import { createExchanges } from "./fixture-exchange.ts";
import { createFeatures } from "./fixture-features.ts";
import { createFixtureTool, USES_CLIENT } from "./fixture-tools.ts";

/** The server that the suite expects, on Octant's dispatcher and jobs; for any edge. */
export function createFixture(log: (line: string) => void): {
  readonly options: ServiceOptions;
  close(): Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), "octant-conformance-"));
  const store = createJobStore(join(folder, "jobs.sqlite"));
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents(Date.now) });
  const exchanges = createExchanges();
  const { reportPromptsChanged, ...features } = createFeatures();
  const passing = defineTool({ name: "passing", summary: "Comes and goes.", actions: {} });
  const reportToolsChanged = () => {
    registry.addTool(passing);
    registry.removeTool(passing.name);
  };
  const parts = { exchangeOf: exchanges.of, reportToolsChanged, reportPromptsChanged };
  const registry = createRegistry([createFixtureTool(parts)]);
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(Buffer.from("fixture")),
    jobs,
    onBug: ({ call, cause }) => log(`bug in ${call.action}: ${cause}`),
  });
  return {
    options: {
      registry,
      dispatch: exchanges.wrap(dispatch),
      profile,
      answers: toResult,
      tasks: jobs,
      log,
      ...features,
      name: "octant-conformance-fixture",
      version: "1.0.0",
      logging: true,
    },
    async close() {
      await jobs.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every action under its own name, with its own schema. */
const profile: Exclude<ListingOptions["profile"], string | undefined> = (tool) =>
  Object.entries(tool.actions)
    .filter(([, act]) => !act.builtin)
    .map(([name, act]) => ({
      tool: tool.name,
      action: name,
      mayBeTask: act.timing !== "sync",
      ...(USES_CLIENT.has(name) && { usesClient: true as const }),
      listed: {
        name,
        description: act.summary,
        inputSchema:
          name === "json_schema_2020_12_tool" ? RICH_SCHEMA : { ...toInputSchema(act), type: "object" },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
    }));

/** The suite checks that all of these keywords are preserved. */
const RICH_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
} as const;
