// `npm run demo`: a short tour on this repository. It changes nothing.
import { join } from "node:path";
import { styleText } from "node:util";
import { createOctant } from "@octant/app";
import { createListing, toTokens } from "@octant/core";
import { toColumns } from "../packages/cli/src/columns.ts";

const ROOT = join(import.meta.dirname, "..");
const LAUNCHER = join(ROOT, "packages/cli/bin/octant.js");
/** Both editors replace it by the open folder. */
const WORKSPACE_FOLDER = `$\{workspaceFolder}`;
const FILE = "package.json";
const SHOWN_LINES = 7;

const style = (format: Parameters<typeof styleText>[0], text: string) =>
  styleText(format, text, { stream: process.stdout });

await using octant = createOctant({ projectPath: ROOT, log: (line) => console.error(`octant: ${line}`) });
const { ws, fs } = octant.client;

console.log(
  `${style("bold", "Octant")}: one small, typed, safe set of tools over a software project, for any AI agent`,
);
console.log("A tour on this very repository; nothing is changed.");

step("ws.detect", "What is this project?");
const project = await ws.detect({});
showRows([
  ["languages", project.languages.map(({ name, files }) => `${name} (${files} files)`).join(", ")],
  ["managed by", project.package_managers.map(({ name }) => name).join(", ")],
  ["tested by", project.test.map(({ command }) => command.join(" ")).join(", ")],
  ["history", project.vcs ? `${project.vcs.kind}, branch ${project.vcs.branch ?? "none"}` : "none"],
]);

step("fs.list uri=packages", "What is in it? Ignored files are left out.");
const { entries } = await fs.list({ uri: "packages" });
showRows(entries.map(({ uri, kind }) => [uri.slice(uri.indexOf("packages/")), kind]));

step(`fs.read uri=${FILE}`, "Read a part, and get the hash that an edit must name.");
const range = { start: { line: 0 }, end: { line: SHOWN_LINES } };
const file = await fs.read({ uri: FILE, range });
if (!("text" in file) || !file.hash) throw new Error(`${FILE} did not read as a text file`);
show(`${file.text?.trimEnd()}`);
show(style("dim", `${file.hash}, ${file.size} bytes`));

step(
  `fs.apply_patch uri=${FILE} base_hash=… dry_run=true patch=…`,
  "Try a change. Without dry_run it would be durable, and undone by one call.",
);
const name = '"name": "octant-repository"';
const edit = await fs.apply_patch({
  uri: FILE,
  base_hash: file.hash,
  patch: [{ op: "replace", old: name, new: '"name": "something-else"' }],
  dry_run: true,
});
show(colourDiff(edit.diff ?? ""));

step("tools/list", "What a model sees of all this.");
const listing = createListing({ registry: octant.registry });
showRows(
  listing.tools.map((tool) => [
    tool.name,
    `${Object.keys(octant.registry.get(tool.name)?.actions ?? {}).length} actions`,
    `${toTokens(JSON.stringify(tool))} tokens`,
  ]),
);
show(style("dim", `together about ${toTokens(JSON.stringify(listing.tools))} tokens`));

title("\nCall a tool by hand");
show("npx @octant/cli call fs.read uri=README.md\nnpx @octant/cli tools\nnpx @octant/cli doctor");

title("\nGive the tools to an agent");
const server = { command: process.execPath, args: [LAUNCHER, "serve"] };
const inWorkspace = { ...server, args: [...server.args, "--root", WORKSPACE_FOLDER] };
show("Claude Code, in the folder of your project:");
show(`  claude mcp add octant -- ${[server.command, ...server.args].join(" ")}`);
show("Cursor, in ~/.cursor/mcp.json:");
show(`  ${JSON.stringify({ mcpServers: { octant: inWorkspace } })}`);
show("VS Code, in .vscode/mcp.json:");
show(`  ${JSON.stringify({ servers: { octant: { type: "stdio", ...inWorkspace } } })}`);

function title(text: string): void {
  console.log(style("bold", text));
}

function step(call: string, why: string): void {
  console.log(`\n${style(["bold", "cyan"], call)}  ${style("dim", why)}`);
}

function showRows(rows: readonly (readonly string[])[]): void {
  show(toColumns(rows).join("\n"));
}

function show(text: string): void {
  console.log(text.replaceAll(/^/gm, "  "));
}

function colourDiff(diff: string): string {
  const colours = { "+": "green", "-": "red", "@": "dim" } as const;
  return diff
    .trimEnd()
    .split("\n")
    .map((line) => {
      const colour = colours[line.charAt(0) as keyof typeof colours];
      return colour ? style(colour, line) : line;
    })
    .join("\n");
}
