export type Scope = "user" | "project";

/** A program in which Octant can be registered. Holds everything that differs between clients. */
export interface Client {
  readonly id: string;
  readonly title: string;
  /**
   * Its settings; the first existing path counts, or the first one when none exists. `{home}`, `{config}` etc. are
   * the folders of places.ts.
   */
  readonly files: {
    readonly user: readonly string[];
    /** Below the project folder; absent when there is none. */
    readonly project?: readonly string[];
  };
  /** JSON with comments when absent. */
  readonly format?: "toml";
  /** The name of the map of servers in the file. */
  readonly servers: string;
  /** Where entries have a `type`: that of a server to start, and of a running one. */
  readonly types?: { readonly started: string; readonly running?: string };
  /** Program and arguments are one list, and the variables are called `environment`. */
  readonly isListed?: true;
  /** The fields for a running server; absent when the client does not support one with a token. */
  readonly remote?: {
    readonly url: "url" | "httpUrl" | "serverUrl";
    readonly headers: "headers" | "http_headers";
  };
  /**
   * For a client that starts servers elsewhere than in the project: its placeholder for the project's folder, null
   * when it has none.
   */
  readonly projectWord?: string | null;
  /**
   * For a client that approves calls by the name of a tool, so that reading needs approval as changing does: the field
   * that leaves approval to Octant, which then asks before changes.
   */
  readonly leavesApproval?: { readonly [field: string]: string };
  /** The person's steps in the client before it uses the server. */
  readonly afterwards?: string;
  /** It is installed when one of the paths exists, or the program is on the PATH. */
  readonly foundBy: { readonly paths: readonly string[]; readonly program: string };
}

/** Both editors replace it by the open folder. */
const WORKSPACE_FOLDER = `$\{workspaceFolder}`;

const HTTP = { url: "url", headers: "headers" } as const;

/** In the order of the help. */
export const CLIENTS: readonly Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    files: { user: ["{claude}/.claude.json"], project: [".mcp.json"] },
    servers: "mcpServers",
    types: { started: "stdio", running: "http" },
    remote: HTTP,
    afterwards:
      "Claude Code asks once before it uses the servers of a project's .mcp.json; servers it has running are reloaded with /mcp",
    foundBy: { paths: ["{home}/.claude", "{claude}/.claude.json"], program: "claude" },
  },
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    // Unverified: no Linux build is documented; community builds use this folder.
    files: { user: ["{support}/Claude/claude_desktop_config.json"] },
    servers: "mcpServers",
    projectWord: null,
    afterwards: "restart Claude Desktop: it reads the file when it starts",
    foundBy: { paths: ["{support}/Claude", "/Applications/Claude.app"], program: "claude-desktop" },
  },
  {
    id: "cursor",
    title: "Cursor",
    files: { user: ["{home}/.cursor/mcp.json"], project: [".cursor/mcp.json"] },
    servers: "mcpServers",
    types: { started: "stdio" },
    remote: HTTP,
    // It starts servers in the home folder. Unverified: that the placeholder works in the user's file as in a
    // project's.
    projectWord: WORKSPACE_FOLDER,
    foundBy: { paths: ["{home}/.cursor"], program: "cursor" },
  },
  {
    id: "vscode",
    title: "VS Code",
    // The default profile; other profiles and Insiders have their own files.
    files: { user: ["{support}/Code/User/mcp.json"], project: [".vscode/mcp.json"] },
    servers: "servers",
    types: { started: "stdio", running: "http" },
    remote: HTTP,
    projectWord: WORKSPACE_FOLDER,
    foundBy: { paths: ["{support}/Code/User"], program: "code" },
  },
  {
    id: "codex",
    title: "Codex",
    // The project's file applies only in a trusted project.
    files: { user: ["{codex}/config.toml"], project: [".codex/config.toml"] },
    format: "toml",
    servers: "mcp_servers",
    remote: { url: "url", headers: "http_headers" },
    leavesApproval: { default_tools_approval_mode: "approve" },
    afterwards:
      'Codex reads a project\'s own file only in a folder that it trusts; it asks when it is started there. Octant asks before it changes anything; `codex exec` cannot ask, so it only reads until you allow more in ~/.config/hanzo/settings.json, such as {"permissions": {"fs.apply_patch": "allow", "test.run": "allow"}}. Add `required = true` below [mcp_servers.octant] if its first turn starts without the tools',
    foundBy: { paths: ["{codex}"], program: "codex" },
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    files: { user: ["{home}/.gemini/settings.json"], project: [".gemini/settings.json"] },
    servers: "mcpServers",
    // With `url` it uses the older transport.
    remote: { url: "httpUrl", headers: "headers" },
    afterwards:
      "Gemini CLI starts servers in trusted folders only: run `gemini` here once and choose to trust the folder",
    foundBy: { paths: ["{home}/.gemini"], program: "gemini" },
  },
  {
    id: "zed",
    title: "Zed",
    files: { user: ["{zed}/settings.json"], project: [".zed/settings.json"] },
    servers: "context_servers",
    // Unverified: that it starts servers in the first folder of the window.
    remote: HTTP,
    foundBy: { paths: ["{zed}", "/Applications/Zed.app"], program: "zed" },
  },
  {
    id: "opencode",
    title: "opencode",
    files: {
      user: ["{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"],
      project: ["opencode.json", "opencode.jsonc"],
    },
    servers: "mcp",
    types: { started: "local", running: "remote" },
    isListed: true,
    remote: HTTP,
    foundBy: { paths: ["{config}/opencode"], program: "opencode" },
  },
  {
    id: "windsurf",
    title: "Windsurf",
    files: { user: ["{home}/.codeium/windsurf/mcp_config.json"] },
    servers: "mcpServers",
    remote: { url: "serverUrl", headers: "headers" },
    // Unverified: where it starts servers; it is said to have no placeholder for the project.
    projectWord: null,
    foundBy: { paths: ["{home}/.codeium/windsurf"], program: "windsurf" },
  },
];
