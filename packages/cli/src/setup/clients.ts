import type { FormatName } from "./config-format.ts";

export type Platform = "linux" | "darwin" | "win32";
export type Scope = "user" | "project";

/**
 * Where a file or folder is, by platform. `{home}`, `{config}`, `{appdata}` and the like are the folders of places.ts;
 * of several paths the first that exists counts, and the first one when none does.
 */
export type Paths = Readonly<Record<Platform, readonly string[]>>;

/** A program that Octant can be registered in. Everything that differs between them is here. */
export interface Client {
  readonly id: string;
  readonly title: string;
  readonly files: {
    readonly user: Paths;
    /** Below the folder of the project; absent when there is none. */
    readonly project?: readonly string[];
  };
  readonly format: FormatName;
  /** The map of servers in the file. */
  readonly servers: readonly string[];
  readonly entry: {
    /** Program and arguments apart, or in one list. */
    readonly command: "split" | "list";
    readonly env: "env" | "environment";
    readonly fixed?: Readonly<Record<string, string>>;
  };
  /** How it is told of a server that runs already; absent when it takes none with a token. */
  readonly remote?: {
    readonly url: "url" | "httpUrl" | "serverUrl";
    readonly headers: "headers" | "http_headers";
    readonly fixed?: Readonly<Record<string, string>>;
  };
  /** Where it starts its servers: in the project, or anywhere but with a word that stands for the project, if it has one. */
  readonly startsIn: "project" | { readonly projectWord: string | null };
  /** What its model reads of an answer; `text` was seen with the real client, or is the block that every client has. */
  readonly answers: "text" | "structured";
  /** What the person still has to do in the client before it uses the server. */
  readonly afterwards?: string;
  /** It is installed when one of these is there, or the program is on the PATH. */
  readonly foundBy: { readonly paths: Paths; readonly program: string };
}

/** Both editors put the open folder in its place. */
const WORKSPACE_FOLDER = `$\{workspaceFolder}`;

const HTTP = { url: "url", headers: "headers" } as const;

/** In the order of the help. */
export const CLIENTS: readonly Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    files: { user: everywhere("{claude}/.claude.json"), project: [".mcp.json"] },
    format: "jsonc",
    servers: ["mcpServers"],
    entry: { command: "split", env: "env", fixed: { type: "stdio" } },
    remote: { ...HTTP, fixed: { type: "http" } },
    startsIn: "project",
    answers: "text",
    afterwards:
      "Claude Code asks once before it uses the servers of a project's .mcp.json; servers it has running are reloaded with /mcp",
    foundBy: { paths: everywhere("{home}/.claude", "{claude}/.claude.json"), program: "claude" },
  },
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    files: {
      user: {
        // Unverified: no Linux build is documented; those that people make use this folder.
        linux: ["{config}/Claude/claude_desktop_config.json"],
        darwin: ["{home}/Library/Application Support/Claude/claude_desktop_config.json"],
        win32: ["{appdata}/Claude/claude_desktop_config.json"],
      },
    },
    format: "jsonc",
    servers: ["mcpServers"],
    entry: { command: "split", env: "env" },
    startsIn: { projectWord: null },
    answers: "text",
    afterwards: "restart Claude Desktop: it reads the file when it starts",
    foundBy: {
      paths: {
        linux: ["{config}/Claude"],
        darwin: ["{home}/Library/Application Support/Claude", "/Applications/Claude.app"],
        win32: ["{appdata}/Claude"],
      },
      program: "claude-desktop",
    },
  },
  {
    id: "cursor",
    title: "Cursor",
    files: { user: everywhere("{home}/.cursor/mcp.json"), project: [".cursor/mcp.json"] },
    format: "jsonc",
    servers: ["mcpServers"],
    entry: { command: "split", env: "env", fixed: { type: "stdio" } },
    remote: HTTP,
    // It starts them in the home folder. Unverified: that the word is replaced in the user's file as in a project's.
    startsIn: { projectWord: WORKSPACE_FOLDER },
    answers: "text",
    foundBy: { paths: everywhere("{home}/.cursor"), program: "cursor" },
  },
  {
    id: "vscode",
    title: "VS Code",
    // The default profile; other profiles and Insiders have files of their own.
    files: {
      user: {
        linux: ["{config}/Code/User/mcp.json"],
        darwin: ["{home}/Library/Application Support/Code/User/mcp.json"],
        win32: ["{appdata}/Code/User/mcp.json"],
      },
      project: [".vscode/mcp.json"],
    },
    format: "jsonc",
    servers: ["servers"],
    entry: { command: "split", env: "env", fixed: { type: "stdio" } },
    remote: { ...HTTP, fixed: { type: "http" } },
    startsIn: { projectWord: WORKSPACE_FOLDER },
    answers: "text",
    foundBy: {
      paths: {
        linux: ["{config}/Code/User"],
        darwin: ["{home}/Library/Application Support/Code/User"],
        win32: ["{appdata}/Code/User"],
      },
      program: "code",
    },
  },
  {
    id: "codex",
    title: "Codex",
    // The project's file counts in a trusted project only.
    files: { user: everywhere("{codex}/config.toml"), project: [".codex/config.toml"] },
    format: "toml",
    servers: ["mcp_servers"],
    entry: { command: "split", env: "env" },
    remote: { url: "url", headers: "http_headers" },
    startsIn: "project",
    answers: "text",
    afterwards:
      "Codex reads a project's own file only in a folder that it trusts; it asks when it is started there; for `codex exec`, add `required = true` below [mcp_servers.octant], or the first turn starts without the tools",
    foundBy: { paths: everywhere("{codex}"), program: "codex" },
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    files: { user: everywhere("{home}/.gemini/settings.json"), project: [".gemini/settings.json"] },
    format: "jsonc",
    servers: ["mcpServers"],
    entry: { command: "split", env: "env" },
    // With `url` it speaks the older transport.
    remote: { url: "httpUrl", headers: "headers" },
    startsIn: "project",
    answers: "text",
    afterwards:
      "Gemini CLI starts servers in trusted folders only: run `gemini` here once and choose to trust the folder",
    foundBy: { paths: everywhere("{home}/.gemini"), program: "gemini" },
  },
  {
    id: "zed",
    title: "Zed",
    files: {
      user: {
        linux: ["{config}/zed/settings.json"],
        darwin: ["{home}/.config/zed/settings.json"],
        win32: ["{appdata}/Zed/settings.json"],
      },
      project: [".zed/settings.json"],
    },
    format: "jsonc",
    servers: ["context_servers"],
    entry: { command: "split", env: "env" },
    remote: HTTP,
    // Unverified: that it starts them in the first folder of the window.
    startsIn: "project",
    answers: "text",
    foundBy: {
      paths: {
        linux: ["{config}/zed"],
        darwin: ["{home}/.config/zed", "/Applications/Zed.app"],
        win32: ["{appdata}/Zed"],
      },
      program: "zed",
    },
  },
  {
    id: "opencode",
    title: "opencode",
    files: {
      user: everywhere("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
      project: ["opencode.json", "opencode.jsonc"],
    },
    format: "jsonc",
    servers: ["mcp"],
    entry: { command: "list", env: "environment", fixed: { type: "local" } },
    remote: { ...HTTP, fixed: { type: "remote" } },
    startsIn: "project",
    answers: "text",
    foundBy: { paths: everywhere("{config}/opencode"), program: "opencode" },
  },
  {
    id: "windsurf",
    title: "Windsurf",
    files: { user: everywhere("{home}/.codeium/windsurf/mcp_config.json") },
    format: "jsonc",
    servers: ["mcpServers"],
    entry: { command: "split", env: "env" },
    remote: { url: "serverUrl", headers: "headers" },
    // Unverified: where it starts them; it is said to know no word for the project.
    startsIn: { projectWord: null },
    answers: "text",
    foundBy: { paths: everywhere("{home}/.codeium/windsurf"), program: "windsurf" },
  },
];

function everywhere(...paths: readonly string[]): Paths {
  return { linux: paths, darwin: paths, win32: paths };
}
