import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject, type TestProject } from "../../testing/config/project.ts";
import type { Config } from "./config.ts";
import { SettingsError } from "./settings-error.ts";
import { trustFolder } from "./trust.ts";

interface Vector {
  name: string;
  user?: string;
  project?: string;
  local?: string;
  environment?: Record<string, string>;
  trusted?: Partial<Record<"project" | "local", true | string>>;
  expect: {
    settings?: Record<string, unknown>;
    permissions?: unknown;
    origins?: Record<string, [string, number | null]>;
    warnings?: string[];
    waiting?: string[];
    error?: { tier: "user" | "project" | "local"; line: number; column: number; message: string };
  };
}

const load = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../../../vectors", file), "utf8"));
const { vectors }: { vectors: Vector[] } = load("config-merge.json");
const { settings: ofHosts }: { settings: Vector[] } = load("host-rules.json");

test.each([...vectors, ...ofHosts])("vector: $name", async (vector) => {
  using project = createProject();
  await trustBefore(project, vector);
  writeTiers(project, vector);
  const { settings, permissions, origins, warnings, waiting, error } = vector.expect;
  if (error) {
    expect(() => project.load(vector.environment)).toThrow(SettingsError);
    expect(failureOf(() => project.load(vector.environment))).toMatchObject({
      file: project.files[error.tier],
      line: error.line,
      column: error.column,
      message: expect.stringContaining(error.message),
    });
    return;
  }
  const config = project.load(vector.environment);
  for (const [name, value] of Object.entries(settings ?? {}))
    expect(plain(settingOf(config, name)), name).toEqual(plain(value, project.root));
  if (permissions) expect(plain(config.permissions)).toEqual(permissions);
  for (const [key, [tier, line]] of Object.entries(origins ?? {}))
    expect(config.origins.get(key), key).toMatchObject({ tier, line });
  const asked = config.waiting.flatMap(({ tier, parts }) => parts.map(({ key }) => `${tier}: ${key}`));
  if (waiting) expect(asked).toEqual(waiting);
  const told = config.warnings.filter((warning) => !warning.includes("octant trust"));
  for (const part of warnings ?? []) expect(config.warnings).toContainEqual(expect.stringContaining(part));
  expect(told.length).toBe((warnings ?? []).filter((part) => !part.includes("trust it")).length);
});

async function trustBefore(project: TestProject, { trusted = {}, ...texts }: Vector): Promise<void> {
  for (const tier of ["project", "local"] as const) {
    const text = trusted[tier] === true ? texts[tier] : trusted[tier];
    if (text === undefined) continue;
    project.write(tier, text);
    await trustFolder(
      project.load().waiting.filter((one) => one.tier === tier),
      project,
    );
  }
}

function writeTiers(project: TestProject, vector: Vector): void {
  for (const tier of ["user", "project", "local"] as const) {
    const text = vector[tier];
    if (text !== undefined) project.write(tier, text);
  }
}

const settingOf = ({ settings }: Config, name: string): unknown =>
  name.split(".").reduce<unknown>((value, key) => Object(value)[key], settings);

/** As JSON sees it: without a difference between objects with and without a prototype. */
const plain = (value: unknown, root = ""): unknown =>
  JSON.parse((JSON.stringify(value) ?? "null").replaceAll("$ROOT", root));

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (cause) {
    return cause;
  }
  return undefined;
}
