import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Bench, Case } from "../case.ts";
import { toCallLine } from "../json-rpc.ts";
import { toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

/** The default `max_bytes` of an answer, plus its last line. */
const BUDGET_BYTES = 32 * 1024 + 1024;
const SOURCES = join(import.meta.dirname, "../../packages/core/src");

export const answerTokens: readonly Case[] = [{ name: "answer tokens", run: sumSession }];

/** A call, and the command with the same plain content. */
interface SessionCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly bare: readonly [program: string, ...args: string[]];
}

const read = (file: string): SessionCall => ({
  tool: "fs",
  input: { action: "read", uri: file },
  bare: ["cat", file],
});
const readLines = (file: string, first: number, last: number): SessionCall => ({
  tool: "fs",
  input: { action: "read", uri: file, lines: `${first}-${last}` },
  bare: ["sed", "-n", `${first},${last}p`, file],
});
const grep = (pattern: string, ...flags: string[]): SessionCall => ({
  tool: "fs",
  input: { action: "search_text", pattern, limit: 1_000, ...(flags.includes("-w") && { word: true }) },
  bare: [rgPath, "--no-config", "-n", "--no-heading", "--sort=path", "-S", ...flags, pattern],
});
const list = (glob: string): SessionCall => ({
  tool: "fs",
  input: { action: "list", uri: ".", pattern: glob, limit: 1_000 },
  bare: [rgPath, "--no-config", "--files", "--sort=path", "-g", glob],
});
const exec = (command: string): SessionCall => ({
  tool: "proc",
  input: { action: "exec", command },
  bare: ["sh", "-c", command],
});
const vcs = (input: SessionCall["input"], ...git: string[]): SessionCall => ({
  tool: "vcs",
  input,
  bare: ["git", ...git],
});

/** An agent's steps for one small change: explore, read, search, run and compare. */
const SESSION: readonly SessionCall[] = [
  list("*.ts"),
  list("jobs/**"),
  list("**/*.test.ts"),
  read("errors.ts"),
  read("envelope.ts"),
  read("dispatch.ts"),
  read("paging.ts"),
  read("ids.ts"),
  read("budget.ts"),
  read("clock.ts"),
  read("lines.ts"),
  read("modes.ts"),
  readLines("tool.ts", 1, 60),
  readLines("registry.ts", 10, 40),
  readLines("dispatch.test.ts", 1, 80),
  grep("ToolError", "-w"),
  grep("signal\\.throwIfAborted"),
  grep("export function"),
  grep("interface Reader"),
  grep("TODO|FIXME|Never sleep"),
  grep("createRegistry"),
  exec("wc -l *.ts"),
  exec("ls text jobs"),
  exec("git log --oneline"),
  exec("for n in $(seq 40); do echo ok $n - a test about behaviour; done"),
  vcs({ action: "status" }, "status", "--short"),
  vcs({ action: "diff" }, "diff"),
  vcs({ action: "log", limit: 5 }, "log", "-5", "--format=%h %an %ad %s", "--date=iso"),
  vcs({ action: "show" }, "show", "--format=%h %an %ad %s", "--date=iso"),
  read("text/text.ts"),
];

async function sumSession({ startOctant }: Bench): Promise<Row> {
  const root = mkdtempSync(join(tmpdir(), "octant-session-"));
  try {
    growProject(root);
    await using server = await startOctant(root, "--answers", "text");
    let [answered, bare] = [0, 0];
    for (const call of SESSION) {
      const text = toText(await server.exchange(toCallLine(call.tool, call.input)), call);
      answered += countTokens(text);
      bare += countTokens(run(root, call.bare));
    }
    const figure = answered / bare;
    const note = `o200k, ${SESSION.length} calls in text form against ${bare} tokens of bare content (cat, rg, git, stdout)`;
    return {
      name: "answer tokens",
      unit: "tokens",
      octant: toSpread([answered]),
      figure,
      bar: atMost(1.25),
      note,
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Real source text in a repository with one commit and one change. */
function growProject(root: string): void {
  cpSync(SOURCES, root, { recursive: true });
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"];
  run(root, ["git", "init", "-q"]);
  run(root, ["git", "add", "."]);
  run(root, ["git", ...identity, "commit", "-q", "-m", "sources"]);
  const note = "# Notes\n\nWhat the core owns.\n";
  writeFileSync(join(root, "NOTES.md"), note);
  run(root, ["git", "add", "."]);
  run(root, ["git", ...identity, "commit", "-q", "-m", "notes"]);
  const file = join(root, "clock.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("export", "/** Counts. */\nexport"));
}

/** rg and git exit with 1 when there is nothing to show. */
function run(cwd: string, [program, ...args]: SessionCall["bare"]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (cause) {
    if (cause instanceof Error && "status" in cause && cause.status === 1) return "";
    throw cause;
  }
}

function toText(answer: Buffer, { tool, input }: SessionCall): string {
  const { result, error } = JSON.parse(answer.toString());
  const called = `${tool} ${JSON.stringify(input)}`;
  if (error || result.isError) throw new Error(`${called}: ${error?.message ?? result.content[0]?.text}`);
  const text: string = result.content[0].text;
  // Half of the content would be cheap.
  if (text.includes("more follows")) throw new Error(`${called}: does not fit on one page`);
  const bytes = Buffer.byteLength(text);
  if (bytes > BUDGET_BYTES) throw new Error(`${called}: ${bytes} bytes, above the budget of ${BUDGET_BYTES}`);
  return text;
}
