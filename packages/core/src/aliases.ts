/**
 * Names that models learned from other tools. They are answered like the real ones and listed nowhere. A call is
 * resolved before anything else looks at it, so rules, modes and the audit log see the real name only.
 */
export const ALIASES = {
  /** Tools of one action, by name in lower case without `_`, `-` and `.`. */
  tools: {
    "proc.exec":
      "bash shell shellcommand runcommand executecommand execcommand runterminalcmd terminal exec localshell runshellcommand runinterminal containerexec",
    "proc.input": "writestdin",
    "proc.logs": "bashoutput taskoutput readbackgroundoutput",
    "proc.kill": "killshell killbash taskstop",
    "fs.read": "read readfile readmanyfiles readmultiplefiles view viewfile viewimage cat openfile",
    "fs.write": "write writefile createfile writetofile",
    "fs.apply_patch":
      "edit editfile strreplace multiedit replace replaceinfile patch applypatch searchreplace applydiff replacestringinfile multireplacestringinfile",
    "fs.rm": "deletefile removefile delete",
    "fs.mkdir": "createdirectory makedirectory",
    "fs.stat": "getfileinfo",
    "fs.search_text": "grep searchfilecontent grepsearch grepfiles ripgrep searchfiles searchdir",
    "fs.list": "glob ls list listdir listdirectory directorytree listfiles findfiles findfile globfilesearch",
    "net.request": "webfetch fetch httprequest fetchwebpage",
    "net.search": "websearch googlewebsearch",
    "vcs.status": "gitstatus",
    "vcs.diff": "gitdiff",
    "vcs.log": "gitlog",
    "vcs.show": "gitshow",
    "vcs.commit": "gitcommit",
    "vcs.branch": "gitbranch",
    "vcs.checkout": "gitcheckout",
    "vcs.blame": "gitblame",
    "code.references": "listcodeusages findreferences",
    "code.diagnostics": "diagnostics getdiagnostics geterrors readlints",
    "test.run": "runtests",
    "plan.get": "todoread readtodos",
    "plan.create": "todowrite updateplan writetodos updatetodolist managetodolist",
    "agent.spawn": "task spawnagent codebaseinvestigator",
    "agent.send": "sendinput",
    "agent.await": "waitagent",
    "agent.terminate": "closeagent",
    "memory.create": "savememory",
    "ws.skill": "skill activateskill",
    "search.query": "codebasesearch semanticsearch filesearch codesearch",
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
  /** The action of a call that names none, when its parameters fit several. */
  main: {
    ws: "detect",
    fs: "read",
    code: "search_symbol",
    proc: "exec",
    test: "run",
    vcs: "status",
    net: "request",
    search: "query",
    agent: "spawn",
    memory: "recall",
    think: "think",
    plan: "create",
  },
  /** By tool; the action of another tool is named with it. */
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
    code: {
      search_symbol: "symbols find_symbol",
      definition: "goto",
      outline: "symbols_in",
      references: "find_references usages",
    },
    search: { query: "search find", "fs.search_text": "grep rg", "fs.list": "glob" },
    net: { request: "fetch get http" },
    plan: { create: "new write", update: "set" },
    think: { think: "note thought" },
    memory: { create: "remember save add store", recall: "search get find" },
    agent: { spawn: "run create start task" },
  },
  /** Parameters, wherever the action has the real one and not the alias; in snake_case, which camelCase becomes. */
  parameters: {
    uri: "path paths files file_paths file_path filepath file filename file_name absolute_path target_file dir dir_path directory folder relative_workspace_path target_directory include",
    path: "uri file_path filepath file dir dir_path directory folder",
    scope: "path file_path dir directory folder target_directories",
    cwd: "workdir working_directory path dir dir_path directory folder",
    content: "contents text file_text code data body step",
    pattern: "query regex glob glob_pattern search search_term",
    query: "pattern q text search search_term symbol symbol_name objective",
    glob: "include includes include_pattern file_pattern",
    command: "cmd script",
    timeout: "timeout_ms",
    wait: "yield_time_ms block_until_ms timeout timeout_ms",
    background: "run_in_background is_background",
    patch: "diff edits replacements input changes patch_text",
    limit: "head_limit max_count max_results count total_max_matches num_results",
    max_per_file: "max_matches_per_file",
    message: "msg",
    steps: "todos todo_list plan items",
    state: "status",
    step_id: "id",
    title: "name",
    task: "prompt message objective",
    role: "subagent_type agent_type type",
    depth: "max_depth",
    text: "content memory fact chars",
    fixed: "literal fixed_strings",
    suite: "path files",
    filter: "name test_name",
    url: "uri urls",
    name: "skill command",
    proc_id: "session_id bash_id shell_id task_id",
    agent_id: "id target",
    agent_ids: "ids targets agent_id id",
    as: "format",
  },
  /**
   * Parameters that do not change the call: descriptions, the form of the answer, defaults, and requests for rights,
   * which a call cannot grant itself.
   */
  ignored:
    "description explanation instruction justification output_mode -n show_line_numbers active_form tool_summary priority " +
    "with_escalated_permissions sandbox_permissions dangerously_disable_sandbox additional_permissions prefix_rule login max_output_tokens " +
    "require_user_approval requires_approval should_read_entire_file line_count expected_line_count tokens_num " +
    "respect_git_ignore respect_gemini_ignore file_filtering_options case_sensitive ignore exclude use_default_excludes mode names_only block args",
  /** What to do instead of calls that have no like here, by the names of their tools and actions. */
  hints: {
    "call several tools in one answer; they run side by side": "parallel multitooluseparallel batch",
    "call proc.exec with mv or cp": "move rename copy movefile renamefile copyfile",
    'call fs.apply_patch with [{op:"insert",line,text}]': "append insert insertcontent appendfile",
    'call fs.apply_patch with [{op:"replace",old,new}]': "reapply inserteditintofile",
    "call fs.read and fs.apply_patch: a notebook is a JSON file": "notebookedit notebookread editnotebook",
    "vcs.commit stages the files that it is given; call proc.exec with git for anything else":
      "add stage unstage reset push pull fetch merge rebase stash gitadd gitpush gitpull getchangedfiles",
    "call plan.create with all steps, then plan.update": "taskcreate taskupdate taskget tasklist",
    "call code with definition, references, hover, outline or calls": "lsp listcodedefinitionnames",
    "call ui: it drives a browser": "browseraction browser",
    "call proc.exec with the interpreter": "python executepython repl notebookrun",
    "call test.run with last_failed: true": "testfailure",
    "call agent.spawn with a role and a task": "newtask subagent",
    "tools of MCP servers are called by their own names":
      "usemcptool accessmcpresource listmcpresources listmcpresourcestool readmcpresourcetool",
    "every tool is listed; ws.help explains one": "toolsearch searchtools",
    "answer in words instead; that ends your turn":
      "attemptcompletion finish submit taskcomplete done finalanswer",
    "only the person switches the mode": "enterplanmode switchmode",
    "only the person runs slash commands; do the work yourself": "slashcommand",
  },
} as const;
