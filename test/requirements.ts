/** One rule of the specification, and the test that would fail without it. */
export interface Requirement {
  readonly rule: string;
  /** `file: words of the test's name`. */
  readonly tests: readonly [string, ...string[]];
}

const rule = (text: string, ...tests: [string, ...string[]]): Requirement => ({ rule: text, tests });

export const REQUIREMENTS: readonly Requirement[] = [
  // 1. The shape
  rule(
    "edges and the runtime know the dispatcher, never a tool",
    "test/layers.test.ts: imports only the packages below it",
  ),
  rule(
    "a mismatch between call and declaration does not compile",
    "packages/core/src/client.test.ts: input that does not match the declaration",
  ),
  rule(
    "tools can be added and removed at run time, with tools/list_changed",
    "packages/mcp/src/client.test.ts: is notified when the list of tools changes",
    "packages/core/src/registry.test.ts: tools can be added and removed while the server runs",
  ),
  rule("every example of every action is run", "test/actions.test.ts: every example of every action works"),
  rule(
    "INTERNAL seen in any test is a failure",
    "test/actions.test.ts: arguments from a confused model never cause a bug",
  ),
  // 2. One envelope
  rule(
    "every answer is the one envelope, with trace_id and backend",
    "packages/core/src/dispatch.test.ts: an answer is an envelope",
  ),
  rule(
    "trace_id is taken from traceparent",
    "packages/core/src/dispatch.test.ts: the trace id is taken from a traceparent",
  ),
  rule(
    "UNKNOWN_ACTION names the valid actions; a missing one says that it is required",
    "packages/core/src/dispatch.test.ts: the unknown action %s names",
    "packages/core/src/dispatch.test.ts: the answer says that it is required",
  ),
  rule(
    "INVALID_ARGUMENT names each issue, unknown parameters included",
    "packages/core/src/dispatch.test.ts: bad arguments are all named",
  ),
  rule(
    "INTERNAL shows the trace_id only; the text goes to the log",
    "packages/core/src/dispatch.test.ts: is INTERNAL to the caller and whole in the log",
  ),
  rule(
    "a handle of somebody else answers NOT_FOUND",
    "packages/tools/src/job/job.test.ts: another caller's job does not exist",
    "packages/tools/src/proc/proc.test.ts: processes of another caller are NOT_FOUND",
  ),
  rule(
    "a cursor is opaque; a foreign or stale one is INVALID_CURSOR",
    "packages/core/src/paging.test.ts: a cursor that was changed anywhere",
    "packages/core/src/paging.test.ts: a cursor of another caller",
  ),
  rule(
    "pages neither repeat nor drop",
    "packages/core/src/paging.test.ts: pages neither repeat nor drop",
    "packages/tools/src/fs/list.test.ts: pages of any size return all entries once",
    "packages/host/src/search/search-text.test.ts: pages of any size hold the same matches",
  ),
  rule(
    "what does not fit comes as head, tail and a ref",
    "packages/tools/src/fs/read.test.ts: long content comes as head and tail",
    "packages/tools/src/proc/proc.test.ts: long output comes as head and tail",
  ),
  rule(
    "percent-encoding round-trips any name a file can have",
    "packages/host/src/path.test.ts: any path a file can have survives",
  ),
  rule("ids are accepted in one form", "packages/core/src/ids.test.ts: ids are accepted in one form only"),
  rule(
    "help, schema and status are built in; a tool's own status wins",
    "packages/core/src/registry.test.ts: every tool answers help, schema and status",
    "packages/core/src/registry.test.ts: a tool's own status wins",
  ),
  // 3. fs
  rule(
    "read: ranges without reading the whole file, 2 GiB files, 100 MB lines",
    "packages/tools/src/fs/read.test.ts: 2 GiB: head and tail",
    "packages/tools/src/fs/read.test.ts: a line of 100 MB is cut",
  ),
  rule(
    "read: encodings, eol, bom; images as image content; a uri list reads many",
    "packages/tools/src/fs/read.test.ts: encodings and endings",
    "packages/tools/src/fs/read.test.ts: is attached",
    "packages/tools/src/fs/read.test.ts: a list returns rows in order",
  ),
  rule(
    "write creates with parents; an existing file is ALREADY_EXISTS",
    "packages/tools/src/fs/write.test.ts: an existing file is not changed",
    "packages/tools/src/fs/write.test.ts: a file is created with its parent folders",
  ),
  rule(
    "stat: kind, size, hash, mtime, mode, link target",
    "packages/tools/src/fs/stat.test.ts: a file has kind, size, hash, time and mode",
    "packages/tools/src/fs/stat.test.ts: a link shows its target",
  ),
  rule(
    "list obeys ignore files as ripgrep does and pages through 100,000 entries",
    "packages/host/src/files/list.test.ts: random trees with random ignore files",
    "packages/tools/src/fs/list.test.ts: a huge folder comes in pages",
  ),
  rule(
    "rm needs confirm; without it CONFIRM_REQUIRED and what would go; it can be undone",
    "packages/tools/src/fs/rm.test.ts: without confirm nothing is removed",
    "packages/tools/src/fs/rm.test.ts: is removed, restored as it was",
  ),
  rule(
    "apply_patch without base_hash is PRECONDITION_REQUIRED",
    "packages/tools/src/fs/apply-patch.test.ts: without base_hash nothing is written",
  ),
  rule(
    "CONFLICT has both hashes, the diff since base and a rebased patch",
    "packages/tools/src/fs/apply-patch.test.ts: a stale base_hash is refused with both hashes",
  ),
  rule(
    "whitespace may differ and is reported; anything looser and ambiguity are refused with candidates",
    "test/patch-torture.test.ts: $name",
    "packages/host/src/patch/apply.test.ts: a failed hunk is named",
  ),
  rule(
    "bytes outside the hunks never change",
    "test/patch-torture.test.ts: $name",
    "packages/host/src/patch/round-trip.test.ts: a diff applied to the old bytes produces the new bytes",
  ),
  rule(
    "mode, ownership and links are kept",
    "packages/tools/src/fs/apply-patch.test.ts: mode, owner and other hard links",
    "packages/tools/src/fs/apply-patch.test.ts: an edit through a link",
  ),
  rule(
    "all files of one call change or none does, also when the process is killed",
    "packages/host/src/edits/edits.test.ts: a process killed in the middle",
    "packages/host/src/edits/transaction.test.ts: at whichever system call the process dies",
    "packages/tools/src/fs/apply-patch.test.ts: one failing file prevents all changes",
  ),
  rule(
    "every patch can be undone by its undo ref",
    "packages/tools/src/fs/apply-patch.test.ts: undo and redo alternate",
  ),
  rule(
    "of many edits with one base_hash exactly one wins",
    "packages/tools/src/fs/apply-patch.test.ts: fifty edits with the same base_hash",
  ),
  rule(
    "search_text: ranges and hashes right for multi-byte and multi-line matches, cancels its child",
    "packages/host/src/search/search-text.test.ts: a match has uri, range, line and the hash",
    "packages/host/src/search/ripgrep.test.ts: leaving the loop or aborting kills the process",
  ),
  rule(
    "no argument is read as an option or run",
    "packages/host/src/search/ripgrep.test.ts: settings in the environment have no effect",
    "packages/host/src/search/ripgrep.test.ts: never an option or a command",
  ),
  rule(
    "nothing outside the roots is read, through links, .. or races",
    "packages/host/src/confinement.test.ts: a folder swapped for a link while we read",
    "packages/host/src/confinement.test.ts: a link, a linked folder and a chain of links",
  ),
  rule(
    "pipes, sockets and devices are refused at once",
    "packages/host/src/confinement.test.ts: pipes, sockets, devices and folders",
  ),
  rule(
    "protected paths cannot be written, also when they do not exist yet",
    "packages/host/src/edits/protected-paths.test.ts: is protected at the root, at any depth",
  ),
  // 3. ws
  rule(
    "ws.detect tells root, languages, managers, build, test, frameworks, vcs, entry points, instructions",
    "packages/tools/src/ws/detect.test.ts: PROJECTS.map",
  ),
  // 3. proc
  rule(
    "a non-zero exit is a result, with both streams and refs",
    "packages/tools/src/proc/proc.test.ts: a command that fails is a result",
  ),
  rule(
    "a command still running after wait becomes a job by itself, and the answer says so",
    "packages/tools/src/proc/proc.test.ts: a command that outlives wait continues",
  ),
  rule(
    "no child outlives the server, even after kill -9",
    "packages/host/src/processes/processes.test.ts: no descendant outlives a killed server without a sandbox",
  ),
  rule(
    "secrets of the server never reach a child",
    "packages/host/src/processes/processes.test.ts: a child gets only harmless variables of the server",
  ),
  rule(
    "output is capped, and never blocks the child",
    "packages/host/src/processes/processes.test.ts: a flood of output keeps its head and tail",
  ),
  // 3. test
  rule(
    "results are normalised for every runner, with messages and places",
    "test/runners.test.ts: runs by name, tells where and why one failed",
  ),
  rule(
    "a crash and no tests are told apart from failing tests",
    "test/runners.test.ts: runs one file, and calls it a crash when its tests cannot be loaded",
    "test/runners.test.ts: may have no tests",
  ),
  // 4. modes
  rule(
    "modes restrict by intent; the default allows all",
    "packages/core/src/dispatch.test.ts: mode %s allows",
  ),
  // 5. timing and jobs
  rule(
    "short work is answered in place, long work with its job",
    "packages/tools/src/job/job.test.ts: work that is quick is answered with its data",
    "packages/tools/src/job/job.test.ts: work is answered with its job at once",
  ),
  rule(
    "failures of fire_and_forget are found with job.list",
    "packages/tools/src/job/job.test.ts: failures of unwatched jobs",
  ),
  rule(
    "after a crash a running job is failed with INTERRUPTED",
    "packages/host/src/jobs/jobs.test.ts: the jobs of a dead server",
    "packages/host/src/jobs/worker.test.ts: when the process that claimed a job is killed",
  ),
  rule(
    "a job is stored as data before it runs, and any process of the workspace can run a queued one",
    "packages/host/src/jobs/jobs.test.ts: a job is stored as data before it runs",
    "packages/host/src/jobs/worker.test.ts: a second process runs the queued job of the first",
    "packages/host/src/jobs/worker.test.ts: when the first process is killed",
    "packages/host/src/jobs/worker.test.ts: beyond the limit jobs wait for their turn",
  ),
  rule(
    "who subscribes to a resource is told of its changes, on every edge and in both eras, and of nothing else",
    "test/subscriptions.test.ts: a client is notified of a file that it edits",
    "test/subscriptions.test.ts: a client is not notified after unsubscribing",
    "test/subscriptions.test.ts: a client that disconnects leaves nothing behind",
    "test/subscriptions.test.ts: a client without read access is not notified",
    "packages/mcp/src/listening/subscriptions.test.ts: while a client does not read",
  ),
  rule(
    "every network edge ends clients that are never done with what they send",
    "packages/mcp/src/http/slow-clients.test.ts: headers that come a byte at a time",
    "packages/mcp/src/http/slow-clients.test.ts: a body that comes a byte at a time",
    "packages/mcp/src/http/slow-clients.test.ts: a first frame that arrives a byte at a time",
    "packages/mcp/src/http/slow-clients.test.ts: an unfinished TLS handshake",
    "packages/mcp/src/http/slow-clients.test.ts: other clients are answered while many are slow",
  ),
  rule(
    "events have numbers, a reader catches up, a slow one loses the oldest",
    "packages/core/src/topic.test.ts: a reader catches up from the number it last saw",
    "packages/core/src/topic.test.ts: a slow reader loses the oldest",
  ),
  rule(
    "cancelling ends the work",
    "packages/tools/src/job/job.test.ts: cancelling ends the work",
    "packages/tools/src/proc/proc.test.ts: a cancelled call ends the command",
  ),
  // 6. MCP
  rule(
    "one flat schema per tool: no union at the root, no $ref",
    "packages/core/src/text/listing.test.ts: no profile lists a root union",
  ),
  rule(
    "where one name has two meanings in one tool, that is refused",
    "packages/core/src/text/listing.test.ts: one name with two meanings",
  ),
  rule(
    "the envelope is structuredContent; its text is that for a model, or one line; above 64 KiB the head",
    "packages/mcp/src/answer.test.ts: a client that is not known gets the text",
    "packages/mcp/src/answer.test.ts: where structured answers were chosen",
    "test/structured-answers.test.ts: with --answers structured rows name files from the base",
    "packages/mcp/src/answer.test.ts: an answer above the limit",
  ),
  rule(
    "both eras on one endpoint, answers byte-equal to the SDK's",
    "packages/mcp/src/client.test.ts: negotiates the revision",
    "packages/mcp/src/oracle.test.ts: a conversation gets the same answers as from the official SDK",
  ),
  rule(
    "mode inspect is truthfully read-only; split has hints per action",
    "packages/core/src/text/listing.test.ts: mode inspect keeps the names",
    "packages/core/src/text/listing.test.ts: the split profile lists one strict tool per action",
  ),
  rule(
    "ws and fs are listed in at most 1,000 tokens",
    "test/listing.test.ts: ws and fs together cost at most 1,000 tokens",
  ),
  // 3. vcs and net
  rule(
    "nothing of an untrusted repository's config, attributes or hooks runs",
    "test/vcs-hostile.test.ts: runs nothing, whatever action is called",
  ),
  rule(
    "a diff of vcs applies as it is, by fs.apply_patch and vcs.apply",
    "test/vcs-differential.test.ts: test",
    "packages/tools/src/vcs/writing.test.ts: fs.apply_patch accepts a diff with renames",
  ),
  rule(
    "work that was not committed is not lost unless told",
    "packages/tools/src/vcs/writing.test.ts: refuses with their names when they would be lost",
  ),
  rule(
    "link-local and metadata addresses are always refused, private ranges as settings and edges say; redirects are checked again",
    "test/net-urls.test.ts: is %s",
    "test/net-urls.test.ts: a name is resolved exactly once per hop",
  ),
  rule(
    "download writes to a temp file, then moves it",
    "packages/tools/src/net/download.test.ts: a target that exists, is protected or outside is refused",
  ),
  // 7. Policy
  rule(
    "a lower tier can only narrow what concerns safety",
    "packages/runtime/src/config/narrowing.test.ts: nothing is wider than with the user's settings alone",
  ),
  rule(
    "a project's hooks, servers and allow rules have no effect until the person trusts exactly that content",
    "packages/runtime/src/config/load.test.ts: a hostile project has no effect",
    "test/policy.test.ts: a hostile project, opened fresh, runs nothing",
    "test/policy.test.ts: for exactly the content that was shown",
  ),
  rule(
    "broken settings refuse to start with file, line and column",
    "test/policy.test.ts: broken settings refuse to start",
  ),
  rule(
    "first match wins in a tier, a deny cannot be undone by a lower tier, the default is prompt",
    "packages/runtime/src/permissions/policy.test.ts: vector: $name",
    "packages/runtime/src/permissions/policy.test.ts: is never undone by another tier",
  ),
  rule(
    "where rules ask, the person is asked by elicitation, input-required or at /approvals; nobody there is APPROVAL_REQUIRED",
    "test/asking.test.ts: asks before a change, and obeys the person",
    "test/approvals.test.ts: a call whose client cannot ask waits",
    "test/asking.test.ts: refuses with APPROVAL_REQUIRED",
  ),
  rule(
    "requestState is integrity-protected",
    "packages/mcp/src/asking/request-state.test.ts: any change to a state invalidates it",
  ),
  rule(
    "hooks: 0 allows, 2 denies with stderr as the reason, anything else denies; post-hooks never block",
    "packages/runtime/src/hooks/run-hooks.test.ts: vector: $name",
    "packages/runtime/src/hooks/run-hooks.test.ts: only close waits for hooks after a call",
  ),
  rule(
    "no command escapes the sandbox at level bubblewrap, as root and as an ordinary user",
    "test/sandbox-escapes.test.ts: no command $name",
  ),
  rule(
    "nothing of a project runs outside the sandbox, changes our own files or makes protected entries",
    "test/sandbox-ways-out.test.ts: that a project plants first on the PATH runs outside",
    "test/sandbox-ways-out.test.ts: a command cannot change, move or replace our own files",
    "test/sandbox-ways-out.test.ts: cannot be swapped for a link to another repository",
    "test/sandbox-ways-out.test.ts: protected entries that a command makes are gone",
    "test/spawn-sites.test.ts: only the listed files can start a process",
  ),
  rule(
    "proc.exec answers with all output, or says that more may come",
    "test/processes.test.ts: commands of fifty concurrent clients return their whole output",
    "packages/host/src/processes/supervised.test.ts: output that the event loop has not reported",
  ),
  rule(
    "OVERLOADED carries retry_after_ms",
    "test/processes-limits.test.ts: another one is OVERLOADED with a retry time",
  ),
  rule(
    "the default sandbox lets people work",
    "packages/host/src/sandbox/sandbox.test.ts: npm installs a package from a tarball",
    "packages/host/src/sandbox/sandbox.test.ts: cargo builds a crate",
  ),
  rule(
    "where settings require a level, a weaker one is SANDBOX_UNAVAILABLE",
    "packages/host/src/sandbox/sandbox.test.ts: refused where settings require one",
  ),
  rule(
    "every decision is in an append-only, hash-chained audit log, and any change of it is found",
    "packages/runtime/src/audit/verify.test.ts: a flipped bit in any byte of a record or of an end is found",
    "packages/runtime/src/audit/retention.test.ts: an old record removed by anybody else is missed",
    "packages/runtime/src/audit/witness.test.ts: a removed log is missed",
    "packages/runtime/src/audit/record-call.test.ts: invalid calls are recorded too",
    "test/policy.test.ts: the audit log has a record of every call and decision",
  ),
  rule(
    "secrets reach no log, no audit, no error and no child",
    "test/policy.test.ts: secrets in the environment, the settings and arguments",
  ),
  rule(
    "each part of the runtime has vectors, and a runner tests any other implementation against them",
    "test/vectors.test.ts: the installed command passes all its vectors",
    "test/vectors.test.ts: passes every case of its domains",
  ),
  rule(
    "the terminal streams Markdown in any chunking and never changes a line it has committed",
    "packages/terminal/src/markdown/md-renderer.test.ts: committed lines never change and the end equals one pass",
    "packages/terminal/src/screen.test.ts: committed lines go into the scrollback once",
  ),
  rule(
    "input modes default, emacs and vim, with Vim's own results and a 500 ms pending timeout",
    "packages/terminal/src/vim/vim.test.ts: random sequences of edits leave the same text and cursor as in Vim",
    "packages/terminal/src/vim/vim.test.ts: a half-typed command expires",
  ),
  rule(
    "permission prompts show a diff and have no default that allows",
    "packages/terminal/src/app.test.ts: Enter allows nothing",
    "packages/runtime/src/permissions/policy.test.ts: never covers a line with another one",
  ),
  rule(
    "undo covers commands: files, modes, links and empty folders come back byte by byte",
    "packages/host/src/checkpoints/checkpoints.test.ts: random trees and random scripts",
  ),
  rule(
    "MCP client: stdio, HTTP, older SSE and WebSocket; names unique with a reverse map; one dead server harms no other",
    "test/mcp-client.test.ts: a server behind %s is listed and called with its token",
    "packages/mcp-client/src/servers.test.ts: bad servers do not affect others",
    "packages/mcp-client/src/servers.test.ts: a changed definition is not run until the person agrees",
    "packages/mcp-client/src/tool-names.test.ts: every tool has a unique name that leads back to it",
  ),
  rule(
    "MCP client: conformance incl. sign-in; resources, prompts and questions of servers reach the agent",
    "test/conformance/mcp-client.test.ts: our MCP client passes the conformance scenario %s",
    "test/mcp-servers.test.ts: a run reads a server's resources",
    "test/mcp-servers.test.ts: a program signs in with a secret from stdin",
    "packages/agent/src/tools/elicit.test.ts: a server's question is on the board",
  ),
  rule(
    "the full history stays in the log, and search (modality memory) finds it",
    "test/agent-run.test.ts: search finds text from an earlier session of the folder",
  ),
  rule(
    "auth: API key, PKCE S256 and device code; credentials 0600, rotated refresh tokens, never in a log or an error",
    "test/sign-in.test.ts: a browser sign-in uses PKCE at a real authorization server",
    "test/sign-in.test.ts: a device code sign-in waits until the person has agreed",
    "test/sign-in.test.ts: concurrent callers refresh a rotated token once, and all get the new one",
    "test/sign-in.test.ts: a key from stdin is stored privately",
  ),
  rule(
    "slash commands are one table; headless too, on real git, and own ones count when trusted",
    "test/slash-commands.test.ts: /commit proposes a message, hooks of the person's git run",
    "test/slash-commands.test.ts: /commit-push-pr pushes to a bare remote",
    "test/slash-commands.test.ts: project commands apply when trusted",
  ),
  rule(
    "sub-agents have a role, fewer rights than their parent, limits over the tree, and end with it",
    "test/crew.test.ts: over MCP five sub-agents explore in parallel",
    "test/crew.test.ts: sub-agents end with their parent",
    "test/slash-commands.test.ts: /auto passes each stage's output on",
  ),
  rule(
    "plan keeps steps with states, dependencies and evidence, and every front end sees each change",
    "test/plan.test.ts: a plan stores steps, order and verified evidence",
    "test/plan.test.ts: every change of its plan is an event",
  ),
  rule(
    "llm goes through the same providers, credentials, limits and cost counting",
    "test/llm.test.ts: llm asks models of several providers, compares them",
    "test/llm.test.ts: what the agent spends through llm counts",
    "test/llm.test.ts: embeddings come from a provider or the local table",
  ),
  rule(
    "commands of the person skip the permission prompt and are audited; MCP prompts are /server:prompt",
    "test/slash-table.test.ts: every command is in the audit log",
    "test/slash-table.test.ts: MCP prompts are commands",
  ),
  rule(
    "limits of sub-agents hold across the tree; undo refs of concurrent commands say what they cover",
    "packages/agent/src/crew/crew.test.ts: depth is counted from the root",
    "packages/agent/src/crew/crew.test.ts: are counted over the whole tree",
    "test/crew.test.ts: custom roles apply when trusted with exactly this content",
    "test/crew.test.ts: killing the parent with kill -9 leaves no process",
    "packages/host/src/checkpoints/checkpoints.test.ts: concurrent commands share an undo",
  ),
  rule(
    "think keeps structured notes with the review focus areas, and asks no model",
    "test/think-mode.test.ts: thoughts, criticism and reviews are notes of the caller",
  ),
  rule(
    "developer modes are data: prompt, tools, limits; own ones in settings",
    "test/think-mode.test.ts: a developer mode refuses excluded calls",
    "test/think-mode.test.ts: limits of a mode that the agent activates apply at once",
  ),
  rule(
    "memory is recalled by words and meaning, says when its files changed, and keeps no secrets",
    "test/memory.test.ts: a memory is found by words in the next server",
    "test/memory.test.ts: a secret is never stored",
    "test/memory.test.ts: shared memory is Markdown in the project",
    "packages/tools/src/memory/memory-store.test.ts: with the caller's wordings, nine of ten questions set aside",
  ),
  // 9. and 10.
  rule(
    "undo covers the shell: a turn is taken back as a whole, and what the person changed since is kept or asked about",
    "test/undo.test.ts: octant undo reverts a whole turn of a %s host, including commands",
    "test/undo.test.ts: an undo merges the person's later changes",
    "test/undo.test.ts: with --checkpoints proc.exec returns an undo ref",
    "test/undo.test.ts: after kill -9 in a turn its work is reverted",
    "packages/host/src/checkpoints/killed.test.ts: a process that is killed while it takes checkpoints and undoes",
  ),
  rule(
    "octant with no arguments in a terminal is the agent",
    "test/chat.test.ts: octant alone in a terminal is the agent",
  ),
  rule(
    "state lives under XDG_STATE_HOME, private; an unusable home falls back with a warning",
    "packages/host/src/state.test.ts: a home that cannot be used falls back",
    "packages/host/src/state.test.ts: XDG_STATE_HOME is obeyed",
  ),
  rule("stdout carries protocol only; the server ends with its client", "test/cli-serve.test.ts: stdout"),
  rule(
    "an old Node starts the one that came along, or says in one line what to do",
    "test/launcher.test.ts: Node",
  ),
  rule(
    "text answers have no structured content, show 1-based lines, and end with one line of handles",
    "test/text-answers.test.ts: text answers are written for a model",
  ),
  rule(
    "every action with a range takes lines in the counting of text answers",
    "test/text-answers.test.ts: range and lines in one call are refused",
  ),
  // ui
  rule(
    "every request of a page obeys the network policy",
    "test/ui-shop.test.ts: no request of a page bypasses the network policy",
  ),
  rule(
    "a stale ref is CONFLICT with the fresh candidates",
    "test/ui-shop.test.ts: a stale ref is a conflict that names similar elements",
  ),
  rule(
    "a snapshot stays within the answer budget, with a ref to the rest",
    "test/ui-shop.test.ts: a large page is read within the budget",
  ),
  rule(
    "the screen is off until the person enables it",
    "test/ui-screen.test.ts: the screen is off until the person enables it",
  ),
  rule(
    "no browser outlives the server, even after kill -9",
    "test/ui-lifecycle.test.ts: a killed server takes its browser along",
  ),
  // 7. The agent runtime
  rule(
    "the loop takes ToolExecutor, Ask and ApiClient, and tests pass scripted ones",
    "packages/agent/src/loop.test.ts: a call is run and its result is returned to the model",
    "packages/agent/src/loop.test.ts: the questions of a call go to the front end",
  ),
  rule("SSE frames are the same for any chunks", "packages/agent/src/providers/sse.test.ts: for any chunks"),
  rule(
    "the prefix of requests is byte-identical from turn to turn and across modes",
    "packages/scripted-provider/src/clients.test.ts: each request starts with the bytes of the previous one",
    "test/agent-run.test.ts: from a request of at most 20 kB on",
  ),
  rule(
    "compaction keeps rules, request and last turns, and is always smaller",
    "packages/agent/src/compaction/compact.test.ts: calls stay with their results and the rest becomes one message",
    "packages/agent/src/compaction/compact.test.ts: the system prompt stays",
  ),
  rule(
    "backoff is overflow-safe with full jitter, and Retry-After is obeyed",
    "packages/agent/src/providers/backoff.test.ts: the cap doubles with each attempt",
    "packages/scripted-provider/src/clients.test.ts: is retried, and the person is told",
  ),
  rule(
    "headless runs have --json, resumable sessions and exit codes",
    "test/agent-run.test.ts: a session is listed, continued, forked and exported",
    "test/agent-run.test.ts: a limit ends the run with exit code 3",
  ),
  rule(
    "kill -9 of the agent loses nothing acknowledged and repeats no call",
    "test/agent-kills.test.ts: nothing acknowledged is lost, no call runs twice",
  ),
  // 6. Wires
  rule(
    "HOOT01 has seven frames with fixed constants, and ROUTER identities are kept",
    "packages/wire/src/hoot01/frames.test.ts: frames and message convert into each other",
    "packages/wire/src/hoot01/frames.test.ts: a typed error that names the frame",
  ),
  rule(
    "equal envelopes on every wire: no JSON between socket and tool",
    "packages/wire/src/zmq/zmq.test.ts: a call returns the envelope of the dispatcher",
    "packages/wire/src/nats/nats.test.ts: a call returns the envelope of the worker's dispatcher",
    "test/edges.test.ts: the same calls return the same envelopes as the dispatcher itself",
  ),
  rule(
    "the MCP edge in one process and the tools in another have the same questions, tasks, subscriptions and job logs",
    "test/edge-processes.test.ts: asks the person before it changes something, and obeys, in both eras",
    "test/edge-processes.test.ts: has tasks: working, completed with the result of the call, cancelled, listed",
    "test/edge-processes.test.ts: shows the log of a job while it runs, and reports changes of jobs and files",
  ),
  rule(
    "a stranger writes a client from the frame table",
    "test/wire-cli.test.ts: a Python client of less than 100 lines",
  ),
  rule(
    "tcp is never open: CURVE or HMAC keys, checked before decoding",
    "packages/wire/src/zmq/zmq.test.ts: keys admits clients that have them, and no others",
    "packages/wire/src/zmq/zmq.test.ts: tcp without keys is refused",
  ),
  rule(
    "over NATS a job ends exactly once, whoever dies",
    "packages/wire/src/nats/nats.test.ts: a job that changes something is INTERRUPTED when its worker stops",
    "test/edges.test.ts: jobs of NATS workers that are killed end exactly once",
  ),
  rule(
    "the bridge verifies a JWT by its key set before the upgrade",
    "test/bridge.test.ts: is refused with 401",
    "test/bridge.test.ts: a known path or a known origin is refused before the upgrade",
  ),
  rule("the bridge refuses binary frames", "test/bridge.test.ts: binary frames are refused with 1003"),
  rule(
    "the owner claim scopes everything behind the bridge",
    "test/bridge.test.ts: of one owner do not exist for another",
    "test/bridge-agent.test.ts: no other owner sees the session",
  ),
];
