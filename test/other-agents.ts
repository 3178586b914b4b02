/**
 * The tools of other agents by their public schemas, as facts: names, parameters and whether they are required. Values
 * are ones that a model would send; {file} is a file of the project. The parameter names of Gemini CLI were read in its
 * source (`packages/core/src/tools/definitions`) in November 2026. Those of Codex and opencode are partly from memory,
 * and were not checked against their sources; those of Claude Code are from its tool references.
 */
export interface ForeignTool {
  readonly agent: "claude-code" | "codex" | "gemini-cli" | "opencode" | "cursor" | "copilot" | "others";
  readonly name: string;
  /** The action here that does the same. */
  readonly means: string;
  readonly required: Readonly<Record<string, unknown>>;
  readonly optional?: Readonly<Record<string, unknown>>;
}

const FILE = "src/a.js";
const OLD = { old_string: "one", new_string: "two" };
const PATCH = `*** Begin Patch\n*** Update File: ${FILE}\n@@\n-one\n+two\n*** End Patch\n`;
const PROC = `proc_${"0".repeat(36)}`;

const CLAUDE: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "Bash",
    means: "proc.exec",
    required: { command: "ls" },
    optional: {
      description: "List",
      timeout: 60_000,
      run_in_background: true,
      dangerouslyDisableSandbox: false,
    },
  },
  { name: "BashOutput", means: "proc.logs", required: { bash_id: PROC } },
  {
    name: "TaskOutput",
    means: "proc.logs",
    required: { task_id: PROC },
    optional: { block: true, timeout: 30_000 },
  },
  { name: "KillShell", means: "proc.kill", required: { shell_id: PROC } },
  { name: "Read", means: "fs.read", required: { file_path: FILE }, optional: { offset: 1, limit: 20 } },
  {
    name: "Edit",
    means: "fs.apply_patch",
    required: { file_path: FILE, ...OLD },
    optional: { replace_all: true },
  },
  {
    name: "MultiEdit",
    means: "fs.apply_patch",
    required: { file_path: FILE, edits: [OLD, { ...OLD, old_string: "three", replace_all: true }] },
  },
  { name: "Write", means: "fs.write", required: { file_path: "new.js", content: "x\n" } },
  { name: "Glob", means: "fs.list", required: { pattern: "**/*.js" }, optional: { path: "src" } },
  {
    name: "Grep",
    means: "fs.search_text",
    required: { pattern: "one" },
    optional: {
      path: "src",
      glob: "*.js",
      output_mode: "files_with_matches",
      "-A": 1,
      "-B": 2,
      "-C": 3,
      "-n": true,
      "-i": true,
      head_limit: 10,
      multiline: true,
    },
  },
  { name: "Grep", means: "fs.search_text", required: { pattern: "one", type: "js" } },
  { name: "LS", means: "fs.list", required: { path: "src" }, optional: { ignore: ["*.log"] } },
  {
    name: "TodoWrite",
    means: "plan.create",
    required: {
      todos: [
        { content: "Look", status: "completed", activeForm: "Looking" },
        { content: "Mend", status: "in_progress", activeForm: "Mending" },
        { content: "Test", status: "pending", activeForm: "Testing" },
      ],
    },
  },
  { name: "WebFetch", means: "net.request", required: { url: "https://example.com/", prompt: "Summarise" } },
  { name: "WebSearch", means: "net.search", required: { query: "octant" } },
  {
    name: "Task",
    means: "agent.spawn",
    required: { description: "Find it", prompt: "Find the mistake", subagent_type: "explore" },
    optional: { model: "small", run_in_background: true },
  },
  {
    name: "Agent",
    means: "agent.spawn",
    required: { description: "Find it", prompt: "Find the mistake", subagent_type: "explore" },
  },
  { name: "Skill", means: "ws.skill", required: { skill: "release" }, optional: { args: "1.0" } },
];

const CODEX: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "shell",
    means: "proc.exec",
    required: { command: ["bash", "-lc", "ls"] },
    optional: {
      workdir: "src",
      timeout_ms: 10_000,
      with_escalated_permissions: true,
      justification: "It needs the network",
      sandbox_permissions: "use_default",
      prefix_rule: ["ls"],
    },
  },
  {
    name: "shell_command",
    means: "proc.exec",
    required: { command: "ls" },
    optional: { workdir: "src", timeout_ms: 10_000, login: true, justification: "why" },
  },
  {
    name: "exec_command",
    means: "proc.exec",
    required: { cmd: "ls" },
    optional: {
      workdir: "src",
      shell: "bash",
      login: true,
      tty: false,
      yield_time_ms: 1_000,
      max_output_tokens: 2_000,
      justification: "why",
    },
  },
  {
    name: "write_stdin",
    means: "proc.input",
    required: { session_id: PROC },
    optional: { chars: "y\n", yield_time_ms: 500, max_output_tokens: 100 },
  },
  { name: "apply_patch", means: "fs.apply_patch", required: { input: PATCH } },
  { name: "shell", means: "fs.apply_patch", required: { command: ["apply_patch", PATCH] } },
  {
    name: "shell",
    means: "fs.apply_patch",
    required: { command: ["bash", "-lc", `apply_patch <<'EOF'\n${PATCH}EOF\n`] },
  },
  {
    name: "shell_command",
    means: "fs.apply_patch",
    required: { command: `apply_patch <<'PATCH'\n${PATCH}PATCH` },
  },
  {
    name: "update_plan",
    means: "plan.create",
    required: {
      plan: [
        { step: "Look", status: "completed" },
        { step: "Mend", status: "in_progress" },
      ],
    },
    optional: { explanation: "Start" },
  },
  { name: "view_image", means: "fs.read", required: { path: "a.png" } },
  {
    name: "read_file",
    means: "fs.read",
    required: { file_path: FILE },
    optional: { offset: 1, limit: 10, mode: "slice" },
  },
  { name: "list_dir", means: "fs.list", required: { dir_path: "src" }, optional: { limit: 25, depth: 2 } },
  {
    name: "grep_files",
    means: "fs.search_text",
    required: { pattern: "one" },
    optional: { include: "*.js", path: "src", limit: 10 },
  },
];

const GEMINI: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "read_file",
    means: "fs.read",
    required: { file_path: FILE },
    optional: { start_line: 1, end_line: 5 },
  },
  {
    name: "read_file",
    means: "fs.read",
    required: { absolute_path: FILE },
    optional: { offset: 0, limit: 5 },
  },
  {
    name: "read_many_files",
    means: "fs.read",
    required: { include: [FILE, "README.md"] },
    optional: { exclude: ["*.log"], recursive: true, useDefaultExcludes: true, file_filtering_options: {} },
  },
  { name: "read_many_files", means: "fs.read", required: { paths: [FILE] } },
  { name: "write_file", means: "fs.write", required: { file_path: "new.js", content: "x\n" } },
  {
    name: "replace",
    means: "fs.apply_patch",
    required: { file_path: FILE, instruction: "Mend it", ...OLD },
    optional: { allow_multiple: true },
  },
  {
    name: "replace",
    means: "fs.apply_patch",
    required: { file_path: FILE, ...OLD },
    optional: { expected_replacements: 2 },
  },
  {
    name: "run_shell_command",
    means: "proc.exec",
    required: { command: "ls" },
    optional: { description: "List", dir_path: "src", is_background: true, additional_permissions: {} },
  },
  {
    name: "list_directory",
    means: "fs.list",
    required: { dir_path: "src" },
    optional: { ignore: ["*.log"], file_filtering_options: { respect_git_ignore: true } },
  },
  {
    name: "glob",
    means: "fs.list",
    required: { pattern: "**/*.js" },
    optional: {
      dir_path: "src",
      case_sensitive: false,
      respect_git_ignore: true,
      respect_gemini_ignore: true,
    },
  },
  {
    name: "grep_search",
    means: "fs.search_text",
    required: { pattern: "one" },
    optional: {
      dir_path: "src",
      include_pattern: "*.js",
      names_only: true,
      max_matches_per_file: 3,
      total_max_matches: 20,
      fixed_strings: true,
      context: 2,
      after: 1,
      before: 1,
      case_sensitive: true,
    },
  },
  {
    name: "search_file_content",
    means: "fs.search_text",
    required: { pattern: "one" },
    optional: { include: "*.js" },
  },
  { name: "web_fetch", means: "net.request", required: { prompt: "Summarise https://example.com/a." } },
  { name: "google_web_search", means: "net.search", required: { query: "octant" } },
  { name: "save_memory", means: "memory.create", required: { fact: "The tests run with npm test" } },
  {
    name: "write_todos",
    means: "plan.create",
    required: {
      todos: [
        { description: "Look", status: "completed" },
        { description: "Drop", status: "cancelled" },
      ],
    },
  },
  { name: "activate_skill", means: "ws.skill", required: { name: "release" } },
];

const CURSOR: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "read_file",
    means: "fs.read",
    required: {
      target_file: FILE,
      should_read_entire_file: false,
      start_line_one_indexed: 1,
      end_line_one_indexed_inclusive: 5,
    },
    optional: { explanation: "Look" },
  },
  {
    name: "run_terminal_cmd",
    means: "proc.exec",
    required: { command: "ls", is_background: false },
    optional: { require_user_approval: false, explanation: "List" },
  },
  {
    name: "Shell",
    means: "proc.exec",
    required: { command: "ls" },
    optional: { working_directory: "src", block_until_ms: 1_000 },
  },
  {
    name: "grep_search",
    means: "fs.search_text",
    required: { query: "one" },
    optional: { case_sensitive: true, include_pattern: "*.js", exclude_pattern: "" },
  },
  { name: "glob_file_search", means: "fs.list", required: { glob_pattern: "*.js", target_directory: "src" } },
  { name: "list_dir", means: "fs.list", required: { relative_workspace_path: "src" } },
  { name: "StrReplace", means: "fs.apply_patch", required: { path: FILE, ...OLD } },
  { name: "Delete", means: "fs.rm", required: { path: FILE } },
  { name: "web_search", means: "net.search", required: { search_term: "octant" } },
  {
    name: "todo_write",
    means: "plan.create",
    required: { merge: false, todos: [{ id: "1", content: "Look", status: "in_progress" }] },
  },
  {
    name: "SemanticSearch",
    means: "search.query",
    required: { query: "x", target_directories: [] },
    optional: { num_results: 3 },
  },
];

/** Copilot's tools in VS Code. */
const COPILOT: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "run_in_terminal",
    means: "proc.exec",
    required: { command: "ls", explanation: "List", isBackground: false },
  },
  {
    name: "replace_string_in_file",
    means: "fs.apply_patch",
    required: { filePath: FILE, oldString: "one", newString: "two" },
  },
  {
    name: "multi_replace_string_in_file",
    means: "fs.apply_patch",
    required: {
      explanation: "Mend",
      replacements: [{ filePath: FILE, oldString: "one", newString: "two", explanation: "Mend" }],
    },
  },
  { name: "get_errors", means: "code.diagnostics", required: { filePaths: [FILE] } },
  { name: "fetch_webpage", means: "net.request", required: { urls: ["https://example.com/"] } },
  {
    name: "manage_todo_list",
    means: "plan.create",
    required: { operation: "write", todoList: [{ id: 1, title: "Look", status: "in-progress" }] },
  },
  { name: "runTests", means: "test.run", required: { files: ["test/a.test.js"] } },
];

const OPENCODE: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "bash",
    means: "proc.exec",
    required: { command: "ls", description: "List" },
    optional: { timeout: 1_000, workdir: "src" },
  },
  { name: "read", means: "fs.read", required: { filePath: FILE }, optional: { offset: 0, limit: 20 } },
  {
    name: "edit",
    means: "fs.apply_patch",
    required: { filePath: FILE, oldString: "one", newString: "two" },
    optional: { replaceAll: true },
  },
  { name: "write", means: "fs.write", required: { filePath: "new.js", content: "x\n" } },
  { name: "patch", means: "fs.apply_patch", required: { patchText: PATCH } },
  { name: "apply_patch", means: "fs.apply_patch", required: { patchText: PATCH } },
  {
    name: "multiedit",
    means: "fs.apply_patch",
    required: { filePath: FILE, edits: [{ filePath: FILE, oldString: "one", newString: "two" }] },
  },
  {
    name: "codesearch",
    means: "search.query",
    required: { query: "octant" },
    optional: { tokensNum: 5_000 },
  },
  { name: "glob", means: "fs.list", required: { pattern: "**/*.js" }, optional: { path: "src" } },
  {
    name: "grep",
    means: "fs.search_text",
    required: { pattern: "one" },
    optional: { path: "src", include: "*.js" },
  },
  { name: "list", means: "fs.list", required: { path: "src" }, optional: { ignore: ["*.log"] } },
  {
    name: "todowrite",
    means: "plan.create",
    required: { todos: [{ content: "Look", status: "in_progress", priority: "high", id: "1" }] },
  },
  {
    name: "webfetch",
    means: "net.request",
    required: { url: "https://example.com/", format: "markdown" },
    optional: { timeout: 30_000 },
  },
  { name: "websearch", means: "net.search", required: { query: "octant" }, optional: { numResults: 8 } },
  { name: "skill", means: "ws.skill", required: { name: "release" } },
];

/** Anthropic's editor, the MCP servers for files and git, Cursor and Cline, mostly from memory. */
const OTHERS: readonly Omit<ForeignTool, "agent">[] = [
  {
    name: "str_replace_based_edit_tool",
    means: "fs.read",
    required: { command: "view", path: FILE },
    optional: { view_range: [1, -1] },
  },
  {
    name: "str_replace_based_edit_tool",
    means: "fs.write",
    required: { command: "create", path: "new.js", file_text: "x\n" },
  },
  {
    name: "str_replace_editor",
    means: "fs.apply_patch",
    required: { command: "str_replace", path: FILE, old_str: "one", new_str: "two" },
  },
  {
    name: "str_replace_editor",
    means: "fs.apply_patch",
    required: { command: "str_replace", path: FILE, old_str: "one" },
  },
  {
    name: "str_replace_editor",
    means: "fs.apply_patch",
    required: { command: "insert", path: FILE, insert_line: 1, new_str: "two\n" },
  },
  { name: "read_multiple_files", means: "fs.read", required: { paths: [FILE, "README.md"] } },
  {
    name: "edit_file",
    means: "fs.apply_patch",
    required: { path: FILE, edits: [{ oldText: "one", newText: "two" }] },
  },
  { name: "create_directory", means: "fs.mkdir", required: { path: "new" } },
  { name: "directory_tree", means: "fs.list", required: { path: "src" } },
  { name: "get_file_info", means: "fs.stat", required: { path: FILE } },
  { name: "git_status", means: "vcs.status", required: {} },
  { name: "git_diff", means: "vcs.diff", required: {} },
  { name: "git_log", means: "vcs.log", required: { max_count: 2 } },
  { name: "git_commit", means: "vcs.commit", required: { message: "Begin" } },
  { name: "execute_command", means: "proc.exec", required: { command: "ls", requires_approval: false } },
  { name: "write_to_file", means: "fs.write", required: { path: "new.js", content: "x\n", line_count: 1 } },
  {
    name: "apply_diff",
    means: "fs.apply_patch",
    required: {
      path: FILE,
      diff: "<<<<<<< SEARCH\n:start_line:1\n-------\none\n=======\ntwo\n>>>>>>> REPLACE\n",
    },
  },
  {
    name: "search_files",
    means: "fs.search_text",
    required: { path: "src", regex: "one", file_pattern: "*.js" },
  },
  { name: "read_file", means: "fs.read", required: { files: [FILE] } },
  { name: "read_file", means: "fs.read", required: { files: [{ path: FILE }, { path: "b.js" }] } },
  { name: "codebase_search", means: "search.query", required: { query: "x", target_directories: ["src"] } },
  { name: "delete_file", means: "fs.rm", required: { target_file: FILE } },
  {
    name: "replace_in_file",
    means: "fs.apply_patch",
    required: { path: FILE, diff: "<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n" },
  },
];

export const OTHER_AGENTS: readonly ForeignTool[] = [
  ...CLAUDE.map((tool) => ({ agent: "claude-code" as const, ...tool })),
  ...CODEX.map((tool) => ({ agent: "codex" as const, ...tool })),
  ...GEMINI.map((tool) => ({ agent: "gemini-cli" as const, ...tool })),
  ...OPENCODE.map((tool) => ({ agent: "opencode" as const, ...tool })),
  ...CURSOR.map((tool) => ({ agent: "cursor" as const, ...tool })),
  ...COPILOT.map((tool) => ({ agent: "copilot" as const, ...tool })),
  ...OTHERS.map((tool) => ({ agent: "others" as const, ...tool })),
];
