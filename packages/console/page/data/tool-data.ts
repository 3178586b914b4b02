/** The parts of the tools' answers that the page reads; `docs/tools.md` describes them. */

export interface Position {
  readonly line: number;
  readonly col?: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface FileContent {
  readonly uri: string;
  readonly text?: string;
  readonly base64?: string;
  readonly hash: string;
  readonly size: number;
  readonly lines?: number;
  readonly range?: Range;
  readonly truncated?: boolean;
}

export interface FolderEntry {
  readonly uri: string;
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
}

export interface SearchHit {
  readonly uri: string;
  readonly range: Range | null;
  readonly snippet: string;
  readonly symbol_id: string | null;
  readonly kind: string;
  readonly score: number;
  readonly why: readonly { readonly strategy: string; readonly rank: number }[];
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly index: string;
  readonly indexed_files: number;
  readonly total_files: number | null;
  readonly unmet?: string;
}

export interface JobView {
  readonly job_id: string;
  readonly tool: string;
  readonly action: string;
  /** The subject of the call. */
  readonly subject?: string;
  readonly state: "queued" | "running" | "complete" | "failed" | "cancelled";
  readonly progress: { readonly progress: number; readonly total?: number; readonly message?: string } | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CommandView {
  readonly proc_id: string;
  readonly status: "running" | "exited" | "killed" | "timed_out";
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly duration: number;
  readonly command: string;
  readonly pid: number;
  /** While it runs: the process that lists it and can reach it. */
  readonly server_pid?: number;
  readonly started_at: number;
  readonly pty: boolean;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
}

export interface Logs {
  readonly status: CommandView["status"];
  readonly exit_code: number | null;
  readonly text: string;
  readonly next: number;
  readonly total: number;
}

export interface TestFailure {
  readonly name: string;
  readonly suite?: readonly string[];
  readonly message: string;
  readonly uri?: string;
  readonly range?: Range;
  readonly expected?: string;
  readonly actual?: string;
  readonly stack?: string;
}

export interface TestRun {
  readonly run_id: string;
  readonly status: string;
  readonly reason?: string;
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
  readonly duration: number;
  readonly failures: readonly TestFailure[];
  readonly more_failures: number;
  readonly suites: readonly {
    readonly suite: string;
    readonly runner: string;
    readonly status: string;
    readonly pass: number;
    readonly fail: number;
    readonly skip: number;
  }[];
}
