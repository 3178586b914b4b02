import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Envelope } from "@octant/core";
import { installCommand, makeInstallFolder } from "./published-command.ts";

// biome-ignore lint/suspicious/noExplicitAny: every action has its own data, and tests say what they expect of it.
type Answer = Envelope & { readonly data: any };

/** A person who has just installed the published command, with nothing stored and default settings. */
export interface Person extends AsyncDisposable {
  readonly home: string;
  /** Where projects are created. */
  readonly folder: string;
  /** Starts a server on the project, over MCP stdio. */
  serve(project: string, options?: { readonly env?: Record<string, string> }): Promise<Served>;
}

export interface Served extends AsyncDisposable {
  readonly root: string;
  /** The first answer, which may be a job. */
  ask(action: string, input?: Record<string, unknown>): Promise<Answer>;
  /** The result of a job. */
  result(job_id: string): Promise<Answer>;
  /** `fs.read`; a job is awaited. */
  call(action: string, input?: Record<string, unknown>): Promise<Answer>;
}

let installed: Promise<{ readonly launcher: string; readonly folder: string }> | undefined;

/** The command is built once for all persons of a test file. */
function install() {
  installed ??= (async () => {
    const folder = makeInstallFolder();
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return { folder, launcher: installCommand(folder) };
  })();
  return installed;
}

export async function createPerson(): Promise<Person> {
  const { launcher } = await install();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-person-")));
  const home = join(folder, "home");
  mkdirSync(home);
  return {
    home,
    folder,
    serve: (project, { env = {} } = {}) => serve(launcher, project, { ...personalEnv(home), ...env }),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Without npm's additions to the PATH. */
const personalEnv = (home: string): Record<string, string> => ({
  HOME: home,
  RUSTUP_HOME: process.env["RUSTUP_HOME"] ?? "",
  PATH: [dirname(process.execPath), ...(process.env["PATH"] ?? "").split(delimiter)]
    .filter((path) => !path.endsWith("node_modules/.bin"))
    .join(delimiter),
});

async function serve(launcher: string, root: string, env: Record<string, string>): Promise<Served> {
  const client = new Client({ name: "front-door", version: "1" });
  const args = [launcher, "serve"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root, env }));
  const ask: Served["ask"] = async (action, input = {}) => {
    const [tool = "", name = ""] = action.split(".");
    const options = { timeout: MAX_CALL_MS };
    const result = await client.callTool({ name: tool, arguments: { action: name, ...input } }, options);
    // In structured answers this is the envelope.
    return result.structuredContent as unknown as Answer;
  };
  const result: Served["result"] = async (job_id) => {
    for (;;) {
      const { data } = await ask("job.poll", { job_id });
      if (data?.result) return data.result;
    }
  };
  return {
    root,
    ask,
    result,
    async call(action, input) {
      const answer = await ask(action, input);
      const { job_id } = answer.meta;
      return answer.ok && job_id !== undefined ? result(job_id) : answer;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const MAX_CALL_MS = 120_000;

/** Writes files by their path below a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
