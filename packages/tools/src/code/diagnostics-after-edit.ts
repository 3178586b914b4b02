import { ToolError } from "@octant/core";
import {
  createLanguageClient,
  type LanguageServers,
  type Path,
  pathToUri,
  ServerRefused,
  ServerUnavailable,
  type SourceDiagnostic,
  type Workspace,
} from "@octant/host";
import type { z } from "zod";
import type { Diagnostic } from "./diagnostics.ts";

/** What an edit has made worse, as far as a server that runs already can tell in time. */
export type AddedDiagnostic = Pick<
  z.output<typeof Diagnostic>,
  "uri" | "range" | "severity" | "message" | "source" | "code"
>;

interface EditedFile {
  readonly uri: string;
  readonly hash: string | null;
  /** Absent: a file. */
  readonly kind?: string;
}

export interface DiagnosticsAfterEdit {
  /**
   * Makes the edit, and asks before and after it what is wrong in the files. `added` is undefined where no server runs
   * for any of them, or none answered in time; the edit is made in any case.
   */
  around<T extends { readonly files: readonly EditedFile[] }>(
    uris: readonly string[],
    edit: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly result: T; readonly added: readonly AddedDiagnostic[] | undefined }>;
}

/** For asking before and after together. */
const BUDGET_MS = 1_500;
const MAX_FILES = 10;
const MAX_ADDED = 50;

export function createDiagnosticsAfterEdit({
  workspace,
  servers,
  budgetMs = BUDGET_MS,
}: {
  readonly workspace: Pick<Workspace, "confinement">;
  readonly servers: LanguageServers;
  readonly budgetMs?: number;
}): DiagnosticsAfterEdit {
  const { confinement } = workspace;
  /** By file; files that nobody can tell about are left out. */
  const lookAt = async (paths: readonly Path[], ms: number, signal: AbortSignal) => {
    const rows = await Promise.all(
      paths.slice(0, MAX_FILES).map(async (path) => {
        const server = servers.running(path);
        const found = server && (await diagnosticsOrNothing(createLanguageClient(server), path, ms, signal));
        return found ? ([[path, found]] as const) : [];
      }),
    );
    return new Map(rows.flat());
  };

  return {
    async around(uris, edit, signal) {
      const asked = uris.flatMap((uri) => toPathOrNothing(confinement, uri));
      const started = performance.now();
      const before = await lookAt(asked, budgetMs / 2, signal);
      const spent = performance.now() - started;
      const result = await edit();
      const changed = result.files.map(({ uri }) => confinement.toPath(uri));
      servers.changed(changed);
      const left = result.files
        .filter(({ hash, kind }) => hash !== null && kind === undefined)
        .map(({ uri }) => confinement.toPath(uri));
      // A file that was there before, and of which nothing was known, would seem to have become worse all at once.
      const known = left.filter((path) => before.has(path) || !asked.includes(path));
      const after = await lookAt(known, budgetMs - spent, signal);
      if (after.size === 0) return { result, added: undefined };
      const added = [...after].flatMap(([path, found]) => addedSince(before.get(path) ?? [], found));
      return { result, added: added.slice(0, MAX_ADDED).map(toAnswer) };
    },
  };
}

/** An edit moves lines, so that what is the same is told by what is said, and how often. */
export function addedSince(
  before: readonly SourceDiagnostic[],
  after: readonly SourceDiagnostic[],
): SourceDiagnostic[] {
  const left = new Map<string, number>();
  for (const one of before) left.set(keyOf(one), (left.get(keyOf(one)) ?? 0) + 1);
  return after.filter((one) => {
    const count = left.get(keyOf(one)) ?? 0;
    left.set(keyOf(one), count - 1);
    return count <= 0;
  });
}

const keyOf = ({ severity, code, message }: SourceDiagnostic) => `${severity} ${code} ${message}`;

const toAnswer = ({ path, ...one }: SourceDiagnostic): AddedDiagnostic => ({ uri: pathToUri(path), ...one });

function toPathOrNothing(confinement: Workspace["confinement"], uri: string): Path[] {
  try {
    return [confinement.toPath(uri)];
  } catch (cause) {
    // The edit itself will say what is wrong with it.
    if (cause instanceof ToolError) return [];
    throw cause;
  }
}

async function diagnosticsOrNothing(
  client: ReturnType<typeof createLanguageClient>,
  path: Path,
  ms: number,
  signal: AbortSignal,
): Promise<readonly SourceDiagnostic[] | undefined> {
  try {
    return await client.diagnostics(path, Math.max(ms, 0), signal);
  } catch (cause) {
    const isExpected =
      cause instanceof ServerUnavailable || cause instanceof ServerRefused || cause instanceof ToolError;
    if (isExpected) return undefined;
    throw cause;
  }
}
