import { findUntrusted, trustWaiting, type Waiting } from "@octant/app";
import { toExact, toOneLine } from "@octant/core";
import { listTrust, revokeTrust, untrustedError } from "@octant/runtime";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, print, printJson } from "../command.ts";
import { explainWorkspace, toWorkspaceOptions } from "../open-octant.ts";
import { painted } from "../output.ts";
import { confirm } from "../questions.ts";
import { rootsOf, workspaceFlags } from "../workspace-flags.ts";

export const trust = defineCommand({
  name: "trust",
  summary: "Show the hooks, servers, allow rules and instructions of a project, and trust them",
  arguments: [{ name: "list|revoke", kind: ["list", "revoke"], optional: true }],
  flags: {
    root: workspaceFlags.root,
    yes: { summary: "Trust what is shown without asking" },
    json: { summary: "Print as JSON, and change nothing" },
  },
  notes: `A project's hooks, servers, allow rules, environment, commands and instructions for the agent
(AGENTS.md, CLAUDE.md, GEMINI.md, .hanzo/agents/, .hanzo/commands/, .hanzo/memory/, .claude/agents/,
.claude/commands/, skills, .mcp.json, hooks of .claude/settings.json) have no effect until you trust them.
Trust is bound to exactly this content; when it changes, you are asked again.
  octant trust           show what waits in this folder, and ask
  octant trust list      show what is trusted, in all folders
  octant trust revoke    forget all trust in this folder`,
  async run({ args: [verb], flags }, io) {
    if (verb === "list") return showList(flags.json, io);
    const roots = rootsOf(flags, io);
    if (verb === "revoke") return revoke(roots, io);
    const waiting = await findWaiting(flags.root, io);
    if (flags.json) {
      const files = waiting.instructions.map(({ path, hash, text }) => ({ path, hash, text }));
      return printJson([...waiting.settings, ...files], io);
    }
    if (waiting.count === 0) return print("nothing here waits for your trust", io);
    showWaiting(waiting, io);
    if (!flags.yes && !(await agrees(waiting, io)))
      return print("not trusted; it has no effect", io, EXIT.FAILED);
    await trustWaiting(waiting, { env: io.env });
    return print("trusted; when this content changes, you are asked again", io);
  },
});

export async function findWaiting(
  root: readonly string[],
  io: Io,
  log?: (line: string) => void,
): Promise<Waiting> {
  return findUntrusted({ ...toWorkspaceOptions({ root }, io), ...(log && { log }) }).catch((cause) =>
    explainWorkspace(cause, { root }, io),
  );
}

export function showWaiting({ settings, instructions }: Waiting, io: Io): void {
  const bold = (text: string) => print(painted("bold", toExact(text), io.stdout), io);
  for (const { file, parts } of settings) {
    bold(file);
    for (const { key, line, shown } of parts) print(`  line ${line}  ${toExact(key)}: ${toExact(shown)}`, io);
  }
  for (const { path, text } of instructions) {
    bold(`${path}: instructions for the agent`);
    for (const line of text.trimEnd().split("\n")) print(`  | ${toExact(line)}`, io);
  }
}

async function agrees({ settings, instructions }: Waiting, io: Io): Promise<boolean> {
  if (!io.stdin.isTTY)
    throw untrustedError(
      settings,
      instructions.map(({ path }) => path),
    );
  return confirm("Let all of this take effect?", io);
}

function showList(json: boolean, io: Io): number {
  const all = listTrust({ env: io.env });
  if (json) return printJson(all, io);
  if (all.length === 0) return print("nothing is trusted yet", io);
  const rows = all.map(({ folder, tier, trusted_at }) => [trusted_at, tier, toOneLine(folder)]);
  return print(toColumns([["since", "tier", "folder"], ...rows]).join("\n"), io);
}

async function revoke(roots: readonly string[], io: Io): Promise<number> {
  let had = false;
  for (const root of roots) had = (await revokeTrust(root, { env: io.env })) || had;
  return print(had ? "no longer trusted" : "nothing here was trusted", io);
}
