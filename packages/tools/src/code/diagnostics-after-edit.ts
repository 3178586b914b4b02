import { Range, type Reader, ToolError, Uri } from "@octant/core";
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
import { z } from "zod";
import { spotOf } from "../place-lines.ts";
import { whyUnchecked } from "./unchecked.ts";

const AddedDiagnostic = z.object({
  uri: Uri,
  range: Range,
  severity: z.string(),
  message: z.string(),
  source: z.string().optional(),
  code: z.string().optional(),
});

/** The part of an answer about the problems that an edit caused. */
export const NewProblems = {
  diagnostics: z
    .array(AddedDiagnostic)
    .readonly()
    .optional()
    .describe("New problems reported by a running language server"),
  diagnostics_note: z.string().optional().describe("Why diagnostics may be missing, and how to get them"),
};

export function newProblemLines(
  { diagnostics }: { readonly diagnostics?: readonly z.output<typeof AddedDiagnostic>[] | undefined },
  reader: Reader,
): string[] {
  if (!diagnostics) return [];
  if (diagnostics.length === 0) return ["no new problems"];
  const lines = diagnostics.map((one) => `${spotOf(one, reader)}: ${one.severity}: ${one.message}`);
  return ["New problems since this edit:", ...lines];
}

export interface EditedFile {
  readonly uri: string;
  readonly hash: string | null;
  /** Absent for a file. */
  readonly kind?: string;
  readonly created?: boolean;
}

export type DiagnosticsAfterEdit = ReturnType<typeof createDiagnosticsAfterEdit>;

/** Before the edit, and again after it. A project of a thousand files takes a second or two. */
const BUDGET_MS = 4_000;
const MAX_FILES = 10;
const MAX_ADDED = 50;

export function createDiagnosticsAfterEdit({
  workspace: { confinement },
  servers,
}: {
  readonly workspace: Pick<Workspace, "confinement">;
  readonly servers: LanguageServers;
}) {
  /** Diagnostics by file; files without an answer are left out. */
  const lookAt = async (paths: readonly Path[], maxFiles: number, signal: AbortSignal) => {
    const rows = await Promise.all(
      paths.slice(0, maxFiles).map(async (path) => {
        const server = servers.running(path);
        // A server that lacks a part of the project reports problems that do not exist.
        if (!server || server.lacks(path) !== undefined) return [];
        const asked = createLanguageClient(server).diagnostics(path, BUDGET_MS, signal);
        const found = await asked.catch(ifNoAnswer);
        return found ? ([[path, found]] as const) : [];
      }),
    );
    return new Map(rows.flat());
  };

  return {
    /**
     * Applies the edit and compares the diagnostics of its files, and of the given ones, before and after. `added` is undefined when no server
     * runs for any of them, or none answered in time; `note` says what is unknown. The edit is applied in any case.
     */
    async around<T extends { readonly files: readonly EditedFile[] }>(
      uris: readonly string[],
      edit: () => Promise<T>,
      signal: AbortSignal,
      maxFiles = MAX_FILES,
    ) {
      const asked = uris.flatMap((uri) => toPathOrNothing(confinement, uri));
      const before = await lookAt(asked, maxFiles, signal);
      const result = await edit();
      const changed = result.files.map((file) => ({ ...file, path: confinement.toPath(file.uri) }));
      servers.changed(changed.map(({ path }) => path));
      const unchanged = asked.filter((path) => !changed.some((file) => file.path === path));
      const left = [
        ...changed.filter(({ hash, kind }) => hash !== null && kind === undefined),
        ...unchanged.map((path) => ({ path, created: false })),
      ].filter(({ path }) => servers.running(path) !== undefined);
      const unable = left
        .map(({ path }) => servers.running(path)?.lacks(path))
        .find((why) => why !== undefined);
      if (left.length === 0 || unable !== undefined) return { result, added: undefined, note: unable };
      const paths = left.map(({ path }) => path);
      const after = await lookAt(paths, maxFiles, signal);
      const added = [...after].flatMap(([path, found]) => addedSince(before.get(path) ?? [], found));
      const unchecked = paths.map((path) => whyUnchecked(confinement, path)).find((why) => why !== undefined);
      const unsure = left.filter(({ path, created }) => after.has(path) && !before.has(path) && !created);
      return {
        result,
        added: after.size === 0 ? undefined : added.slice(0, MAX_ADDED).map(toAnswer),
        note: noteOn(left.length - after.size, unsure.length, unchecked),
      };
    },
  };
}

function noteOn(unanswered: number, unsure: number, unchecked: string | undefined): string | undefined {
  const parts = [
    unanswered > 0 &&
      `the language server has not checked ${unanswered} of the files in time; code.diagnostics asks it again`,
    unsure > 0 &&
      `${unsure} of the files were not checked before the edit, so some of these diagnostics may be older`,
    unchecked && `only the syntax was checked: ${unchecked}`,
  ];
  return parts.filter(Boolean).join("; ") || undefined;
}

/** An edit moves lines, so diagnostics are compared by their text and count. */
function addedSince(
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

const toAnswer = ({ path, ...one }: SourceDiagnostic) => ({ uri: pathToUri(path), ...one });

function toPathOrNothing(confinement: Workspace["confinement"], uri: string): Path[] {
  try {
    return [confinement.toPath(uri)];
  } catch (cause) {
    // The edit itself will report its own failure.
    if (cause instanceof ToolError) return [];
    throw cause;
  }
}

function ifNoAnswer(cause: unknown): undefined {
  const isExpected =
    cause instanceof ServerUnavailable || cause instanceof ServerRefused || cause instanceof ToolError;
  if (!isExpected) throw cause;
}
