export type Platform = "linux" | "darwin" | "win32";
export type Scope = "user" | "project";

/**
 * The location of a file or folder by platform. `{home}`, `{config}`, `{appdata}` etc. are the folders of
 * places.ts; the first existing path counts, or the first one when none exists.
 */
export type Paths = Readonly<Record<Platform, readonly string[]>>;

/** A program in which Octant can be registered. Holds everything that differs between clients. */
export interface Client {
  readonly id: string;
  readonly title: string;
  readonly files: {
    readonly user: Paths;
    /** Below the project folder; absent when there is none. */
    readonly project?: readonly string[];
  };
  readonly format: "jsonc" | "toml";
  /** The path to the map of servers in the file. */
  readonly servers: readonly string[];
  readonly entry: {
    /** Program and arguments separately, or in one list. */
    readonly command: "split" | "list";
    readonly env: "env" | "environment";
    readonly fixed?: Readonly<Record<string, string>>;
  };
  /** The fields for a running server; absent when the client does not support one with a token. */
  readonly remote?: {
    readonly url: "url" | "httpUrl" | "serverUrl";
    readonly headers: "headers" | "http_headers";
    readonly fixed?: Readonly<Record<string, string>>;
  };
  /**
   * Where it starts servers: in the project, or elsewhere with a placeholder for the project, if it has one.
   */
  readonly startsIn: "project" | { readonly projectWord: string | null };
  /**
   * The form of answers that its model reads; `text` was verified with the real client, or is the form that
   * every client supports.
   */
  readonly answers: "text" | "structured";
  /** What the person must do in the client before it uses the server. */
  readonly afterwards?: string;
  /** It is installed when one of the paths exists, or the program is on the PATH. */
  readonly foundBy: { readonly paths: Paths; readonly program: string };
}

/** Both editors replace it by the open folder. */
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
        // Unverified: no Linux build is documented; community builds use this folder.
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
    // It starts servers in the home folder. Unverified: that the placeholder works in the user's file as in a
    // project's.
    startsIn: { projectWord: WORKSPACE_FOLDER },
    answers: "text",
    foundBy: { paths: everywhere("{home}/.cursor"), program: "cursor" },
  },
  {
    id: "vscode",
    title: "VS Code",
    // The default profile; other profiles and Insiders have their own files.
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
    // The project's file applies only in a trusted project.
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
    // With `url` it uses the older transport.
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
    // Unverified: that it starts servers in the first folder of the window.
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
    // Unverified: where it starts servers; it is said to have no placeholder for the project.
    startsIn: { projectWord: null },
    answers: "text",
    foundBy: { paths: everywhere("{home}/.codeium/windsurf"), program: "windsurf" },
  },
];

function everywhere(...paths: readonly string[]): Paths {
  return { linux: paths, darwin: paths, win32: paths };
}
