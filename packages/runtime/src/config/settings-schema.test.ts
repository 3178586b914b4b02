import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KEYS } from "./keys.ts";
import { settingsSchema } from "./schema.ts";
import { renderSettings, toSettingsSchema } from "./settings-schema.ts";

test("the JSON Schema in the package is the one of the settings", () => {
  const file = join(import.meta.dirname, "../../settings.schema.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(toSettingsSchema());
});

test("it describes the values of a dictionary, and rejects unknown keys", () => {
  const { properties, additionalProperties } = toSettingsSchema();
  expect(additionalProperties).toBe(false);
  expect(properties?.["mcp_servers"]).toMatchObject({
    type: "object",
    additionalProperties: { properties: { command: {}, env: { additionalProperties: { type: "string" } } } },
  });
});

test("every key is in the reference, and the reference has no other", () => {
  expect(Object.keys(KEYS).sort()).toEqual(Object.keys(settingsSchema().shape).sort());
  for (const key of Object.keys(KEYS)) expect(renderSettings()).toContain(`| \`${key}\` |`);
});
