import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { type Path, toNative } from "../path.ts";
import { replaceFile } from "../replace-file.ts";
import { isInPlace, listProtected, PROTECTED_NAMES, type ProtectedMount } from "./protected.ts";
import { type Guarded, makeOurs, quarantineNew } from "./quarantine.ts";
import type { Scratch } from "./scratch.ts";
import { lstatOf } from "./tree.ts";

export interface GuardOptions {
  readonly roots: readonly Path[];
  readonly scratch: Scratch;
  warn(message: string): void;
}

export type Guard = ReturnType<typeof createGuard>;

/**
 * Protects entries (`.mcp.json`, `.vscode`, git hooks …) from commands. Entries that exist when
 * no command runs are mounted read-only. A missing one cannot be mounted without making it, so an entry that appears
 * while commands run is moved to a quarantine: when the kernel reports it, and again when each command ends. Nothing may run in the roots yet.
 */
export function createGuard({ roots, scratch, warn }: GuardOptions) {
  const quarantine = scratch.folder("quarantine");
  const watchers = new Map<Path, FSWatcher>();
  const reports = new Set<Path[]>();
  /** Running commands of our own that may create protected entries, such as git checkout. */
  let trusted = 0;
  const allowed = new Set<Path>();
  const takeSurvey = () => surveyOf(roots, { quarantine, allowed });
  let survey = takeSurvey();
  let guardFile = "";

  const sweep = () => {
    if (reports.size === 0 || trusted > 0) return;
    for (const path of survey.guarded.repositories) if (lstatOf(path)) watchRepository(path);
    const moved = quarantineNew(survey.guarded);
    if (moved.length === 0) return;
    for (const report of reports) report.push(...moved);
    warn(`a command made ${moved.join(", ")}, which is protected; moved to ${quarantine}`);
  };
  const watchFolder = (path: Path, names?: ReadonlySet<string>) => {
    if (watchers.has(path)) return;
    try {
      const watcher = watch(toNative(path), { persistent: false }, (_, name) => {
        if (name === null || !names || names.has(name)) sweep();
      });
      watcher.on("error", () => watchers.delete(path));
      watchers.set(path, watcher);
    } catch {
      // Watching is not available; the sweep at the end of each command remains.
    }
  };
  const watchRepository = (path: Path) => {
    for (const folder of [path, join(path, "hooks")]) if (lstatOf(folder)?.isDirectory()) watchFolder(folder);
  };
  const renew = (next: Survey) => {
    survey = next;
    const content = Buffer.from(JSON.stringify(next.guarded));
    // The supervisor of running commands reads the file that it was given.
    if (reports.size > 0) replaceFile(guardFile, content, { mode: 0o600, durable: false });
    else guardFile = scratch.keep("guard", content);
  };

  return {
    /** To be mounted read-only, in this order. */
    mounts: (): readonly ProtectedMount[] => survey.mounts.filter(isInPlace),
    /** Call `release` of the result when the command has ended or failed to start. */
    enter({ changesProtected }: { readonly changesProtected: boolean }) {
      if (reports.size === 0) renew(takeSurvey());
      for (const root of roots) watchFolder(root, WATCHED_NAMES);
      const report: Path[] = [];
      reports.add(report);
      if (changesProtected) trusted += 1;
      return {
        /** A file that lists for the supervisor what to quarantine if this process dies. */
        guardFile,
        /** Returns the entries quarantined while the command ran. */
        release(): readonly Path[] {
          if (!reports.has(report)) return report;
          if (!changesProtected) sweep();
          else if (--trusted === 0) renew({ ...survey, guarded: withoutPresent(survey.guarded) });
          reports.delete(report);
          return report;
        },
      };
    },
    /** Makes this folder for Octant itself, also while commands of this or another process run. */
    allow(path: Path): void {
      allowed.add(path);
      const { guarded } = survey;
      renew({ ...survey, guarded: { ...guarded, absent: guarded.absent.filter((one) => one !== path) } });
      // Its writer reports why it cannot be made.
      attempt(() => makeOurs(path, quarantine));
    },
    close(): void {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

const WATCHED_NAMES: ReadonlySet<string> = new Set([...PROTECTED_NAMES, ".git"]);

interface Survey {
  readonly mounts: readonly ProtectedMount[];
  readonly guarded: Guarded;
}

function surveyOf(
  roots: readonly Path[],
  { quarantine, allowed }: { quarantine: string; allowed: ReadonlySet<Path> },
): Survey {
  const present = roots.filter((root) => lstatOf(root)?.isDirectory());
  const repositories = present.map((root) => join(root, ".git"));
  const paths = [
    ...present.flatMap((root) => PROTECTED_NAMES.map((name) => join(root, name))),
    // With one of these git takes its settings and hooks from somewhere else.
    ...repositories
      .filter((path) => lstatOf(path)?.isDirectory())
      .flatMap((path) => ["commondir", "config.worktree"].map((name) => join(path, name))),
  ];
  const absent = paths.filter((path) => !allowed.has(path));
  return {
    mounts: present.flatMap(listProtected),
    guarded: withoutPresent({ absent, repositories, quarantine }),
  };
}

const withoutPresent = ({ absent, repositories, quarantine }: Guarded): Guarded => ({
  absent: absent.filter((path) => !lstatOf(path)),
  repositories: repositories.filter((path) => !lstatOf(path)),
  quarantine,
});
