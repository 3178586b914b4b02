import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  backoffCap,
  compactMessages,
  createBackoff,
  createSseFrameBuffer,
  type Message,
  retryAfterMs,
} from "@octant/agent";
import { type AnyAction, type ArgumentKind, action, ofKind } from "@octant/core";
import { createToolNames } from "@octant/mcp-client";
import {
  createPolicy,
  isVerifier,
  loadConfig,
  PermissionRule,
  SettingsError,
  TIERS,
  type TierName,
  toChallenge,
  trustFolder,
} from "@octant/runtime";
import { z } from "zod";
import type { Domain, VectorCase } from "./load-vectors.ts";

/** Octant's answer to a case. */
export const answerCase = async ({ domain, input }: VectorCase): Promise<unknown> =>
  // As JSON, like the answer of another implementation.
  JSON.parse(JSON.stringify(await OWN[domain](input)));

// The inputs come from our own files, whose form vectors.test.ts checks; hence the casts below.
const OWN: Readonly<Record<Domain, (input: Readonly<Record<string, unknown>>) => unknown>> = {
  "sse-frames": (input) => {
    const buffer = createSseFrameBuffer();
    const chunks = input["chunks"] as readonly string[];
    return { frames: [...chunks.flatMap((chunk) => buffer.feed(chunk)), ...buffer.end()] };
  },
  "mcp-normalization": (input) => {
    const names = createToolNames();
    const places = input["places"] as readonly { server: string; tool: string }[];
    return { names: places.map(({ server, tool }) => names.nameOf(server, tool)) };
  },
  "permission-policy": (input) => decide(input as unknown as Parameters<typeof decide>[0]),
  "session-compaction": (input) => {
    const { messages, ...options } = input as unknown as Compaction;
    const compacted = compactMessages(messages, options);
    if (!compacted) return { compacted: null };
    // `kept` is for people only; the vectors do not have it.
    const { kept: _kept, ...told } = compacted;
    return { compacted: told };
  },
  "oauth-pkce": (input) => {
    const verifier = String(input["verifier"]);
    return isVerifier(verifier) ? { challenge: toChallenge(verifier) } : { error: "invalid_verifier" };
  },
  "config-merge": (input) => mergeConfig(input),
  "backoff-timing": (input) => timeBackoff(input as unknown as Timing),
};

interface Compaction {
  readonly messages: readonly Message[];
  readonly reserve_recent: number;
  readonly ledger: string;
  readonly summary: string;
}

interface Timing {
  readonly base_ms: number;
  readonly max_ms: number;
  readonly random?: readonly number[];
  readonly reset_after?: number;
  readonly attempts?: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly now: number;
}

function timeBackoff(input: Timing): object {
  const { random, attempts, headers, text = "", now } = input;
  if (random) {
    let at = 0;
    const backoff = createBackoff({ ...input, random: () => random[at] ?? 0 });
    const delays = random.map((_, index) => {
      if (index === input.reset_after) backoff.reset();
      at = index;
      return backoff.next();
    });
    return { delays_ms: delays };
  }
  if (attempts) return { caps_ms: attempts.map((attempt) => backoffCap(attempt, input)) };
  return { retry_after_ms: retryAfterMs(new Headers(headers), text, now) ?? null };
}

async function inFolder(work: (folder: string) => Promise<object>): Promise<object> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-vectors-")));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FILES = ["user", "project", "local"] as const;
type Tier = (typeof FILES)[number];

interface ConfigInput {
  readonly environment?: Readonly<Record<string, string>>;
  readonly trusted?: Partial<Record<Tier, true | string>>;
}

/** Loads the settings of a case from real files in a temporary home and project. */
const mergeConfig = (input: ConfigInput & Partial<Record<Tier, string>>): Promise<object> =>
  inFolder(async (folder) => {
    const root = join(folder, "project");
    const home = join(folder, "home");
    mkdirSync(root);
    const files: Record<Tier, string> = {
      user: join(home, ".config/hanzo/settings.json"),
      project: join(root, ".hanzo/settings.json"),
      local: join(root, ".hanzo/settings.local.json"),
    };
    const write = (tier: Tier, text: string) => {
      mkdirSync(dirname(files[tier]), { recursive: true });
      writeFileSync(files[tier], text, { mode: 0o600 });
    };
    const load = (variables = {}) => loadConfig({ roots: [root], env: { HOME: home, ...variables } });
    for (const tier of ["project", "local"] as const) {
      const before = input.trusted?.[tier];
      const text = before === true ? input[tier] : before;
      if (text === undefined) continue;
      write(tier, text);
      const waiting = load().waiting.filter((one) => one.tier === tier);
      await trustFolder(waiting, { env: { HOME: home } });
    }
    for (const tier of FILES) if (input[tier] !== undefined) write(tier, input[tier]);
    return JSON.parse(
      JSON.stringify(outputOf(() => load(input.environment), files)).replaceAll(root, "$ROOT"),
    );
  });

function outputOf(load: () => ReturnType<typeof loadConfig>, files: Record<Tier, string>): object {
  try {
    const { settings, permissions, origins, warnings, waiting } = load();
    return {
      settings,
      permissions,
      origins: Object.fromEntries([...origins].map(([key, { tier, line }]) => [key, [tier, line]])),
      warnings,
      waiting: waiting.flatMap(({ tier, parts }) => parts.map(({ key }) => `${tier}: ${key}`)),
    };
  } catch (cause) {
    if (!(cause instanceof SettingsError)) throw cause;
    const { file, line, column, message } = cause;
    return { error: { tier: FILES.find((tier) => files[tier] === file), line, column, message } };
  }
}

/** The path or command in an argument; null for a plain value. */
type Held = ArgumentKind | null | readonly { readonly [name: string]: Held }[];

interface PolicyInput {
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  readonly actions: Readonly<Record<string, Readonly<Record<string, Held>>>>;
  readonly tiers: Partial<Record<TierName, readonly unknown[]>>;
  readonly call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
}

/** Decides about a call in a real folder with the files and links of the case. */
const decide = (given: PolicyInput): Promise<object> =>
  inFolder(async (root) => {
    // The text is the same JSON with another name for the root.
    const input = JSON.parse(JSON.stringify(given).replaceAll("{root}", root)) as PolicyInput;
    for (const [path, content] of Object.entries(input.files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    for (const [path, target] of Object.entries(input.links)) symlinkSync(target, join(root, path));
    const tiers = TIERS.map((tier) => ({
      tier,
      rules: (input.tiers[tier] ?? []).map((rule) => PermissionRule.parse(rule)),
    }));
    const held = input.actions[input.call.name];
    const called = { ...input.call, ...(held && { action: toAction(held) }) };
    const { mode, tier, rule } = createPolicy(tiers, { roots: [root] }).evaluate(called);
    const rules = tiers.find((one) => one.tier === tier)?.rules;
    return { mode, tier, rule: rules && rule ? rules.indexOf(rule) : null };
  });

const toAction = (held: Readonly<Record<string, Held>>): AnyAction =>
  action({
    summary: "Does something.",
    access: "write",
    timing: "sync",
    intent: "apply",
    input: z.strictObject(toShape(held)),
    output: z.unknown(),
    examples: [{ title: "It", input: {} }],
    run: () => "done",
  });

const toShape = (held: Readonly<Record<string, Held>>): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(held).map(([name, what]) => [name, toField(what)]));

function toField(what: Held): z.ZodType {
  if (what === null) return z.unknown();
  if (typeof what === "string") return ofKind(what, z.unknown());
  return z.array(z.object(toShape(what[0] ?? {}))).optional();
}
