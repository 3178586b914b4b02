/**
 * Names that models learned from other tools. They are answered like the real ones and listed nowhere. A call is
 * resolved before anything else looks at it, so rules, modes and the audit log see the real name only.
 */
export const ALIASES = {
  /** Tools of one action, by name in lower case without `_` and `-`. */
  tools: {
    "proc.exec":
      "bash shell shellcommand runcommand executecommand execcommand runterminalcmd terminal exec localshell runshellcommand",
    "proc.input": "writestdin",
    "proc.logs": "bashoutput taskoutput readbackgroundoutput",
    "proc.kill": "killshell killbash taskstop",
    "fs.read": "read readfile readmanyfiles readmultiplefiles view viewfile viewimage cat openfile",
    "fs.write": "write writefile createfile",
    "fs.apply_patch":
      "edit editfile strreplace multiedit replace replaceinfile patch applypatch searchreplace",
    "fs.rm": "deletefile removefile",
    "fs.mkdir": "createdirectory makedirectory",
    "fs.stat": "getfileinfo",
    "fs.search_text": "grep searchfilecontent grepsearch grepfiles ripgrep",
    "fs.list": "glob ls list listdir listdirectory directorytree listfiles findfiles",
    "net.request": "webfetch fetch httprequest",
    "net.search": "websearch googlewebsearch",
    "vcs.status": "gitstatus",
    "vcs.diff": "gitdiff",
    "vcs.log": "gitlog",
    "vcs.show": "gitshow",
    "code.diagnostics": "diagnostics getdiagnostics geterrors readlints",
    "test.run": "runtests",
    "plan.get": "todoread readtodos",
    "plan.create": "todowrite updateplan writetodos",
    "agent.spawn": "task",
    "memory.create": "savememory",
    "ws.skill": "skill activateskill",
    "search.query": "codebasesearch semanticsearch filesearch",
  },
  /** Tools whose `command` says which action is meant. */
  editors: {
    names: "strreplacebasededittool strreplaceeditor texteditor editor",
    commands: {
      view: "fs.read",
      create: "fs.write",
      str_replace: "fs.apply_patch",
      insert: "fs.apply_patch",
    },
  },
  actions: {
    fs: {
      apply_patch: "edit str_replace patch replace update multi_edit",
      search_text: "grep search rg find_text",
      list: "glob ls find list_dir find_files",
      read: "view cat open read_file get",
      write: "create write_file new",
      rm: "delete remove unlink",
    },
    proc: { exec: "bash run shell execute sh start", logs: "output tail", kill: "stop" },
    vcs: { diff: "show_diff", checkout: "switch" },
    test: { run: "exec execute test" },
    code: { search_symbol: "symbols find_symbol", definition: "goto", outline: "symbols_in" },
    search: { query: "search find" },
    net: { request: "fetch get http" },
    plan: { create: "new write", update: "set" },
    memory: { create: "remember save add store", recall: "search get find" },
    agent: { spawn: "run create start task" },
  },
  /** Parameters, wherever the action has the real one and not the alias; in snake_case, which camelCase becomes. */
  parameters: {
    uri: "path paths file_path filepath file filename file_name absolute_path target_file dir dir_path directory folder relative_workspace_path include",
    path: "uri file_path filepath file dir dir_path directory folder",
    scope: "path file_path dir directory folder target_directories",
    cwd: "workdir working_directory path dir dir_path directory folder",
    content: "contents text file_text code data body step",
    pattern: "query regex glob glob_pattern search",
    query: "pattern q text search",
    glob: "include includes include_pattern file_pattern",
    command: "cmd script",
    timeout: "timeout_ms",
    wait: "yield_time_ms timeout timeout_ms",
    background: "run_in_background is_background",
    patch: "diff edits input changes patch_text",
    limit: "head_limit max_results count total_max_matches num_results",
    max_per_file: "max_matches_per_file",
    message: "msg",
    steps: "todos plan items",
    state: "status",
    step_id: "id",
    title: "name",
    task: "prompt",
    role: "subagent_type agent_type",
    depth: "max_depth",
    text: "content memory fact chars",
    fixed: "literal fixed_strings",
    suite: "file path",
    filter: "name test_name",
    url: "uri",
    name: "skill command",
    proc_id: "session_id bash_id shell_id task_id",
    as: "format",
  },
  /**
   * Of no effect on the call: words about it, how the answer looks, what already holds, and wishes for rights, which a
   * call here cannot grant itself.
   */
  ignored:
    "description explanation instruction justification output_mode -n show_line_numbers active_form tool_summary priority " +
    "with_escalated_permissions sandbox_permissions dangerously_disable_sandbox additional_permissions prefix_rule login max_output_tokens " +
    "respect_git_ignore respect_gemini_ignore file_filtering_options case_sensitive ignore exclude use_default_excludes mode names_only block args",
} as const;
