import { isWeaker } from "@octant/host";
import type { Io } from "./command.ts";
import type { Octant, OwnTool } from "./octant.ts";

/** One result of the check. Unless it is ok, `detail` says what to do. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** The project does not need it: shown with --all only. */
  readonly extra?: true;
}

/** The capabilities as the tools themselves report them. */
export async function checkWorkspace({ client, workspace }: Octant<OwnTool>): Promise<Check[]> {
  const { octant, roots, tools, sandbox, state } = await client.ws.capabilities({});
  const { languages, test } = await client.ws.detect({});
  const uses = new Set(languages.map((one) => toServerName(one.name)));
  const runners = new Set(test.map(({ runner }) => runner));
  const isForThisProject = (tool: string, name: string) => {
    // No project depends on the desktop's screen.
    if (tool === "ui" && name === "screen") return false;
    if (name.startsWith("lsp:")) return uses.has(name.slice("lsp:".length));
    return tool !== "test" || runners.has(name);
  };
  const backends = tools.flatMap((tool) => tool.backends.map((backend) => ({ tool: tool.name, ...backend })));
  return [
    ok("octant", octant.version),
    ok("node", `${octant.node} on ${octant.platform} ${octant.arch}`),
    ...roots.map((root) => ok("root", root)),
    state.kind === "persistent"
      ? ok("state folder", workspace.state.path)
      : warn(
          "state folder",
          `${workspace.state.path} is temporary, so undo may be lost; make ~/.local/state writable or set XDG_STATE_HOME`,
        ),
    isWeaker(sandbox.level, "unshare")
      ? warn("sandbox", `${sandbox.level}: ${sandbox.detail}`)
      : ok("sandbox", `${sandbox.level}: ${sandbox.detail}`),
    ...backends.map(({ tool, name, available, version, detail }) => {
      const text = [version, detail].filter(Boolean).join(", ");
      const check = available
        ? ok(`${tool}: ${name}`, text || "found")
        : warn(`${tool}: ${name}`, text || "not found");
      return isForThisProject(tool, name) ? check : { ...check, extra: true as const };
    }),
  ];
}

/** The name of the language in the checks of language servers. */
function toServerName(language: string): string {
  const name = language.toLowerCase();
  if (name === "c" || name === "c++") return "cpp";
  return name === "javascript" || name === "tsx" ? "typescript" : name;
}

/** What a machine needs besides Octant. */
export const checkMachine = (io: Io): Check[] => [checkTerminal(io)];

function checkTerminal({ stdout, env }: Io): Check {
  if (!stdout.isTTY) return ok("terminal", "none; the output is plain");
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const facts = `${env["TERM"] ?? "unknown"}, ${stdout.columns} columns, ${stdout.hasColors() ? "colours" : "no colours"}`;
  return /utf-?8/i.test(locale)
    ? ok("terminal", facts)
    : warn("terminal", `${facts}; the locale is not UTF-8, so file names may look wrong: set LANG=C.UTF-8`);
}

const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });
const warn = (name: string, detail: string): Check => ({ name, status: "warn", detail });
