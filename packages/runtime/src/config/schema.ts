import { MODE_NAMES, PackManifest } from "@octant/core";
import { SANDBOX_LEVELS, SANDBOX_MODES } from "@octant/host";
import { z } from "zod";
import { HookSettings } from "../hooks/hook.ts";
import { StatusLineSettings } from "../hooks/status-line.ts";
import { PermissionMode, PermissionRule, ToolPattern } from "../permissions/rule.ts";
import { type Dictionary, dictionary } from "./dictionary.ts";

/** A name or an address, with an optional port. */
export const HOST = /^(\*\.)?[^\s/?#@*:[\]\0]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i;

/** A day: timers cannot wait much longer. */
const MAX_STALL_SECONDS = 24 * 60 * 60;

/** A day. */
const MAX_AFTER_SECONDS = 24 * 60 * 60;

/** How much a model thinks before it answers. */
export const THINKING = ["off", "low", "medium", "high"] as const;
export type Thinking = (typeof THINKING)[number];

export type Settings = z.output<ReturnType<typeof settingsSchema>>;
export type ServerSettings = z.output<ReturnType<typeof serverSchema>>;
export type PackSettings = z.output<ReturnType<typeof packSchema>>;
export type { Dictionary };

/** The schema of a settings file. A function, because building it takes time that most starts can save. */
export function settingsSchema() {
  return z
    .strictObject({
      $schema: z.string(),
      model: z.string().min(1),
      api_key: z.string().min(1),
      oauth_credentials: dictionary(z.string(), z.unknown()),
      base_url: httpAddress(),
      custom_instructions: z.string(),
      thinking: z.enum(THINKING),
      input_mode: z.enum(["default", "emacs", "vim"]),
      plain: z.boolean(),
      status_line: StatusLineSettings,
      notifications: z
        .strictObject({ mode: z.enum(["auto", "off"]), after_seconds: z.int().min(0).max(MAX_AFTER_SECONDS) })
        .partial(),
      models: dictionary(z.string().min(1), modelSchema()),
      max_tokens: z.int().positive(),
      stall_seconds: z.int().positive().max(MAX_STALL_SECONDS),
      permissions: z.union([dictionary(ToolPattern, PermissionMode), z.array(PermissionRule)]),
      hooks: z.array(HookSettings),
      mcp_servers: dictionary(serverName(), serverSchema()),
      packs: dictionary(packName(), packSchema()),
      sandbox: sandboxSchema(),
      env: dictionary(variableName(), noNul()),
      audit: z
        .strictObject({ arguments: z.enum(["hash", "full"]), keep_bytes: z.int().positive() })
        .partial(),
      net: z.strictObject({ allow: hosts(), deny: hosts(), private: z.boolean() }).partial(),
      net_search: z
        .strictObject({
          provider: z.enum(["brave", "tavily", "exa", "searxng", "model"]),
          url: httpAddress(),
          key: z.string().min(1),
        })
        .partial(),
      vcs: z.strictObject({ filters: z.array(z.string().min(1)), hooks: z.boolean() }).partial(),
      language_servers: dictionary(languageName(), z.strictObject({ command: argv() })),
      search: z
        .strictObject({
          embedder: embedderSchema(),
          vector_store: z.enum(["embedded", "lancedb"]),
        })
        .partial(),
      ui: z
        .strictObject({
          browser: noNul().min(1),
          headless: z.boolean(),
          screen: z.boolean(),
          max_download_bytes: z.int().min(0),
        })
        .partial(),
      tools: z.array(z.string().min(1)),
      checkpoints: z.boolean(),
      modes: dictionary(modeName(), modeSchema()),
      memory: z.strictObject({ shared: z.boolean() }).partial(),
      mode: intentMode(),
    })
    .partial();
}

function sandboxSchema() {
  return z
    .strictObject({
      mode: z.enum(SANDBOX_MODES),
      allowed_paths: z.array(noNul().min(1)),
      network: z.union([z.enum(["on", "off", "loopback"]), hosts()]),
      hide_home: z.boolean(),
      require: z.enum(SANDBOX_LEVELS),
      confined_by: noNul().min(1),
      memory_bytes: z.int().positive(),
      max_processes: z.int().positive(),
    })
    .partial();
}

/** Facts about a model, or about all models with this id prefix; prices are US dollars per million tokens, `search` for one. */
function modelSchema() {
  const amount = z.number().min(0);
  const rates = {
    input: amount,
    output: amount,
    cache_read: amount.optional(),
    cache_write: amount.optional(),
  };
  const price = z.strictObject({
    ...rates,
    search: amount.optional(),
    long: z.strictObject({ above_tokens: z.int().positive(), ...rates }).optional(),
  });
  return z
    .strictObject({
      context_tokens: z.int().min(1_000),
      max_output_tokens: z.int().min(100),
      price,
      images: z.boolean(),
      thinking: z.boolean(),
    })
    .partial();
}

/** A developer mode of one's own: how to work, with which tools, and how long. */
function modeSchema() {
  const limits = z
    .strictObject({
      max_turns: z.int().positive(),
      max_cost: z.number().positive(),
      max_time_ms: z.int().positive(),
    })
    .partial();
  return z.strictObject({
    summary: z.string().min(1),
    prompt: z.string().min(1),
    tools: z.array(z.string().min(1)).optional(),
    allows: intentMode().optional(),
    limits: limits.optional(),
  });
}

const intentMode = () => z.enum(MODE_NAMES);

function serverSchema() {
  return z
    .strictObject({
      command: z.union([noNul().min(1), argv()]),
      args: z.array(noNul()),
      env: dictionary(variableName(), noNul()),
      url: address(/^(https?|wss?)$/, "expected an http, https, ws or wss URL without a password"),
      headers: headers(),
      disabled: z.boolean(),
    })
    .partial()
    .superRefine(({ command, args, env, url, headers, disabled }, { addIssue }) => {
      const of = (what: string) => addIssue({ code: "custom", message: `expected ${what}` });
      if (command && url) of("either command or url, not both");
      else if (!command && (args || env)) of("command beside args and env");
      else if (!url && headers) of("url beside headers");
      else if (!command && !url && disabled === undefined) of("command, url or disabled");
    });
}

/** A pack of tools: a folder or an npm package, in a process of its own unless `in_process`. */
function packSchema() {
  return z.strictObject({
    from: noNul().min(1),
    in_process: z.boolean().optional(),
    disabled: z.boolean().optional(),
    settings: dictionary(z.string(), z.unknown()).optional(),
  });
}

/** The model that places texts: in a folder of this machine, or behind an address. */
function embedderSchema() {
  const prefixes = z.strictObject({ question: z.string(), passage: z.string() }).optional();
  return z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("onnx"),
      folder: noNul().regex(/^([/\\]|[A-Za-z]:[/\\])/, "expected an absolute path"),
      prefixes,
    }),
    z.strictObject({
      kind: z.enum(["openai", "ollama"]),
      url: httpAddress(),
      model: z.string().min(1),
      headers: headers().optional(),
      prefixes,
    }),
  ]);
}

/** A password in it would be shown wherever the address is; headers are not. */
const address = (protocol: RegExp, error: string) =>
  z.url({ protocol, error }).refine((url) => !/^[a-z]+:\/*[^/?#]*@/i.test(url), error);
const httpAddress = () => address(/^https?$/, "expected an http or https URL without a password");
const headers = () =>
  dictionary(
    z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "expected the name of a header"),
    z.string().regex(/^[^\r\n\0]*$/, "expected a value on one line"),
  );
const noNul = () => z.string().regex(/^[^\0]*$/, "expected text without a NUL character");
const argv = () => z.tuple([noNul().min(1)], noNul());
const variableName = () => z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected the name of a variable");
const modeName = () =>
  z
    .string()
    .regex(/^(?!default$)[a-z][\w-]{0,39}$/, "expected a name of lower-case letters, digits, '-' and '_'");
const packName = () => PackManifest.shape.pack;
const languageName = () => z.string().regex(/^[\w+#.-]+$/, "expected the name of a language");
// Tools of servers are called mcp__<server>__<tool>, which must be read in one way only.
const serverName = () =>
  z
    .string()
    .regex(
      /^(?!.*__)[A-Za-z0-9][\w.-]{0,59}$/,
      "expected a name of letters, digits, '.', '-' and '_', without '__'",
    );
const hosts = () =>
  z.array(z.string().regex(HOST, "expected a host with an optional port, such as example.com or [::1]:8080"));
