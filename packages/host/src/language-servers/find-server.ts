import { once } from "node:events";
import { startLaunched } from "../programs/start-program.ts";
import { findOnPath } from "../programs/trusted-program.ts";
import type { LaunchedCommand, Sandbox } from "../sandbox/sandbox.ts";
import { confines } from "../sandbox/settings.ts";
import { SERVERS, type ServerRow } from "./catalog.ts";
import { findServerProgram, majorTypeScriptOf, type Surroundings } from "./find-server-program.ts";

export interface FoundServer {
  readonly row: Pick<
    ServerRow,
    "name" | "language" | "initializationOptions" | "settings" | "listed" | "lacks"
  >;
  readonly argv: readonly [string, ...string[]];
  readonly version?: string;
  readonly where: string;
}

/** The result of a search: a working server, or why there is none and how to get one. */
export type Finding =
  | { readonly kind: "found"; readonly server: FoundServer }
  | { readonly kind: "missing"; readonly reasons: readonly string[]; readonly how: string };

export interface FindOptions extends Surroundings {
  readonly sandbox: Pick<Sandbox, "wrap" | "status" | "unconfined">;
  /** The part of our environment that a program gets. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** From the person's settings, which win over the built-in catalog. */
  readonly configured: Readonly<Record<string, { readonly command: readonly [string, ...string[]] }>>;
}

const PROBE_MS = 5_000;
const MAX_REASON_CHARS = 120;
const MAX_PRINTED_CHARS = 65_536;

/** Looks for a language's server, and checks that a found one works. */
export async function findServer(language: string, options: FindOptions): Promise<Finding> {
  const own = Object.hasOwn(options.configured, language) ? options.configured[language] : undefined;
  if (own) {
    const row = SERVERS.find((one) => own.command[0].endsWith(one.name)) ?? {
      name: own.command[0],
      language,
    };
    return { kind: "found", server: { row: { ...row, language }, argv: own.command, where: "settings" } };
  }
  const rows = SERVERS.filter((row) => row.language === language && suits(row, options));
  const reasons: string[] = [];
  for (const row of rows) {
    const found = await findRow(row, options);
    if (typeof found === "object") return { kind: "found", server: found };
    reasons.push(found);
  }
  const setting = `set language_servers.${language}.command in your settings`;
  const how = [...rows.map(({ install }) => install), setting].join("; or ");
  return { kind: "missing", reasons, how };
}

const suits = ({ onlyOldTypeScript }: ServerRow, { root }: Surroundings): boolean =>
  !onlyOldTypeScript || (majorTypeScriptOf(root) ?? Number.POSITIVE_INFINITY) < 7;

/** The server, or why it cannot be used. */
async function findRow(row: ServerRow, options: FindOptions): Promise<FoundServer | string> {
  const missing = row.needs?.find((program) => findOnPath(program, options.env["PATH"]) === undefined);
  if (missing !== undefined) return `${row.name} needs '${missing}' on PATH`;
  let reason = missingText(row, options);
  for (const place of row.places) {
    const program = findServerProgram(place, options);
    if (!program) continue;
    const runsProject = program.isOfProject || row.runsProject;
    if (runsProject && !(await holdsPrograms(options.sandbox))) {
      reason = `${row.name} would run code of the project, which requires a sandbox`;
      continue;
    }
    const probed = program.version ?? (await probe([...program.argv, ...row.probe], row, options));
    if (typeof probed === "string") {
      const argv = [...program.argv, ...row.args] as const;
      return { row, argv, where: program.where, ...(probed !== "" && { version: probed }) };
    }
    reason = `${row.name} is installed but does not work: ${probed.why}`;
  }
  return reason;
}

function missingText({ name, places }: ServerRow, { root }: Surroundings): string {
  const major = majorTypeScriptOf(root);
  return major !== undefined && places.some(({ kind }) => kind === "typescript")
    ? `the project's TypeScript ${major} has no language server; TypeScript 7 has`
    : `${name} is not installed`;
}

/**
 * Programs of a project are untrusted code, and asking about a symbol is not permission to run it freely. A container
 * around this process holds them too.
 */
async function holdsPrograms(sandbox: FindOptions["sandbox"]): Promise<boolean> {
  return confines((await sandbox.status()).level) || (await sandbox.unconfined())?.by !== undefined;
}

/** The first version number that it prints; "" when it cannot be asked and only the handshake will show. */
async function probe(
  argv: readonly [string, ...string[]],
  row: ServerRow,
  { root, sandbox, childEnv }: FindOptions,
): Promise<string | { readonly why: string }> {
  if (row.probe.length === 0) return "";
  try {
    const launched = await sandbox.wrap({ argv, folder: root, env: childEnv, pty: false, network: "off" });
    const { printed, code, signal } = await runToEnd(launched).finally(launched.release);
    if (code === 0) return versionIn(printed);
    const first = printed.trim().split("\n")[0]?.slice(0, MAX_REASON_CHARS);
    return {
      why: `${row.probe.join(" ")} gave ${signal ?? `exit code ${code}`}${first ? `: ${first}` : ""}`,
    };
  } catch (cause) {
    return { why: cause instanceof Error ? cause.message : String(cause) };
  }
}

async function runToEnd({
  argv: [program, ...args],
  folder,
  env,
}: LaunchedCommand): Promise<{ printed: string; code: number | null; signal: string | null }> {
  const child = startLaunched(program, args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PROBE_MS,
    killSignal: "SIGKILL",
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      if (printed.length < MAX_PRINTED_CHARS) printed += text;
    });
  const [code, signal] = await once(child, "close");
  return { printed, code, signal };
}

const versionIn = (printed: string): string => /\d+\.\d+[\w.+-]*/.exec(printed)?.[0] ?? "";
