import { didYouMean } from "@octant/core";
import { type AnyCommand, UsageError } from "../command.ts";
import { hintForFlag } from "../other-words.ts";

/** In the order of the help. Each command is loaded on demand. */
const COMMANDS: Readonly<Record<string, () => Promise<AnyCommand>>> = {
  chat: async () => (await import("./chat.ts")).chat,
  run: async () => (await import("./run.ts")).run,
  sessions: async () => (await import("./sessions.ts")).sessions,
  acp: async () => (await import("./acp.ts")).acp,
  undo: async () => (await import("./undo.ts")).undo,
  redo: async () => (await import("./undo.ts")).redo,
  serve: async () => (await import("./serve.ts")).serve,
  host: async () => (await import("./host.ts")).host,
  worker: async () => (await import("./worker.ts")).worker,
  edge: async () => (await import("./edge.ts")).edge,
  hub: async () => (await import("./hub.ts")).hub,
  bridge: async () => (await import("./bridge.ts")).bridge,
  call: async () => (await import("./call.ts")).call,
  tools: async () => (await import("./tools.ts")).tools,
  console: async () => (await import("./console.ts")).console,
  ps: async () => (await import("./ps.ts")).ps,
  watch: async () => (await import("./watch.ts")).watch,
  answer: async () => (await import("./answer.ts")).answer,
  jobs: async () => (await import("./jobs.ts")).jobs,
  help: async () => (await import("./help.ts")).help,
  config: async () => (await import("./config.ts")).config,
  trust: async () => (await import("./trust.ts")).trust,
  policy: async () => (await import("./policy.ts")).policy,
  sandbox: async () => (await import("./sandbox.ts")).sandbox,
  audit: async () => (await import("./audit.ts")).audit,
  token: async () => (await import("./token.ts")).token,
  setup: async () => (await import("./setup.ts")).setup,
  login: async () => (await import("./login.ts")).login,
  logout: async () => (await import("./logout.ts")).logout,
  auth: async () => (await import("./auth.ts")).auth,
  pack: async () => (await import("./pack.ts")).pack,
  mcp: async () => (await import("./mcp.ts")).mcp,
  vectors: async () => (await import("./vectors.ts")).vectors,
  doctor: async () => (await import("./doctor.ts")).doctor,
  completion: async () => (await import("./completion.ts")).completion,
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

export const isCommand = (name: string): boolean => Object.hasOwn(COMMANDS, name);

export async function loadCommand(name: string): Promise<AnyCommand> {
  const load = isCommand(name) && COMMANDS[name];
  if (load) return load();
  if (name.startsWith("-"))
    throw new UsageError(
      `unknown flag '${name}'`,
      hintForFlag(name.replace(/^-+/, "")) ?? "flags come after the command: octant tools --root DIR",
    );
  throw new UsageError(
    `unknown command '${name}'; commands: ${COMMAND_NAMES.join(", ")}`,
    `octant --help shows what each does.${didYouMean(name, COMMAND_NAMES)}`.replace(/\.$/, ""),
  );
}

export const loadCommands = (): Promise<AnyCommand[]> =>
  Promise.all(Object.values(COMMANDS).map((load) => load()));
