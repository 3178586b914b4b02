import type { ArgumentConditions, PermissionMode, PermissionRule } from "../permissions/rule.ts";

/** The lists of Claude Code that make Octant ask or refuse. `allow` is not read: your own rules give rights. */
export const CLAUDE_LISTS = { deny: "deny", ask: "prompt" } as const satisfies Record<string, PermissionMode>;

const CHANGES =
  "{fs.apply_patch,fs.write,fs.rm,fs.mkdir,code.rename,code.format,vcs.apply,vcs.checkout,net.download}";

/** The tools of Claude Code: ours that do the same, and the meaning of the text in parentheses. */
const TOOLS: Readonly<Record<string, readonly [pattern: string, says?: "path" | "command" | "host"]>> = {
  // A file that must not be read is kept from commands and from git too.
  Read: ["*", "path"],
  Grep: ["fs.search_text", "path"],
  Glob: ["fs.list", "path"],
  LS: ["fs.list", "path"],
  Edit: [CHANGES, "path"],
  Write: [CHANGES, "path"],
  MultiEdit: [CHANGES, "path"],
  NotebookEdit: [CHANGES, "path"],
  Bash: ["{proc.exec,proc.input}", "command"],
  WebFetch: ["{net.request,net.download,ui.navigate}", "host"],
  WebSearch: ["net.search"],
  Task: ["agent.spawn"],
  Agent: ["agent.spawn"],
};

const RULE = /^([\w-]+)(?:\((.+)\))?$/s;

/** A rule such as `Read(.env)` or `Bash(git push:*)`; undefined when Octant has nothing like it. */
export function fromClaudeRule(text: unknown, mode: PermissionMode): PermissionRule | undefined {
  const [, name = "", given] = typeof text === "string" ? (RULE.exec(text.trim()) ?? []) : [];
  const content = given === "*" ? undefined : given;
  const reason = `${mode === "deny" ? "denied" : "asked about"} by ${text} in .claude/settings.json`;
  if (name.startsWith("mcp__") && content === undefined) return { tool_pattern: name, mode, reason };
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (!tool) return undefined;
  const [pattern, says] = tool;
  // Without a path, `Read` is about reading files, not about everything.
  if (content === undefined) return { tool_pattern: name === "Read" ? "fs.read" : pattern, mode, reason };
  const args = says && CONDITIONS[says](content);
  return args && { tool_pattern: pattern, mode, reason, args };
}

const CONDITIONS: Readonly<
  Record<"path" | "command" | "host", (content: string) => ArgumentConditions | undefined>
> = {
  path: (content) => ({ path: toGlobs(content) }),
  command(content) {
    const words = content
      .replace(/(?::| )\*$/, "")
      .trim()
      .split(/\s+/);
    return words.some((word) => word.includes("*")) ? undefined : { command: words };
  },
  host(content) {
    const [, host] = /^domain:(\S+)$/.exec(content) ?? [];
    return host === undefined ? undefined : { host };
  },
};

/** Its patterns are those of a .gitignore file: a name counts at every depth, and a folder with all that is in it. */
function toGlobs(pattern: string): string[] {
  const path = pattern.startsWith("//") ? pattern.slice(1) : pattern.replace(/^(\.?\/)(?!\/)/, "");
  const isAnchored = path !== pattern || path.startsWith("~/") || /\/(?!$)/.test(path);
  const whole = `${isAnchored ? "" : "**/"}${path.replace(/\/$/, "")}`;
  return whole.endsWith("**") ? [whole] : [whole, `${whole}/**`];
}
