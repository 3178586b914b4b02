import type { Backend } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { isWithin, type Path } from "../path.ts";
import { passedEnvironment } from "../processes/environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { StateFolder } from "../state.ts";
import type { Watcher } from "../watching/watcher.ts";
import { SERVERS } from "./catalog.ts";
import { fileLanguageOf } from "./file-language.ts";
import { type Finding, findServer } from "./find-server.ts";
import { LanguageServer, type LanguageServerLimits, SERVER_LIMITS } from "./language-server.ts";
import { startServer } from "./server-process.ts";

export interface LanguageServersOptions {
  readonly confinement: Confinement;
  readonly sandbox: Sandbox;
  readonly state: Pick<StateFolder, "folder">;
  readonly watcher: Watcher;
  readonly env: NodeJS.ProcessEnv;
  /** `language_servers` of the person's settings. */
  readonly configured?: Readonly<Record<string, { readonly command: readonly [string, ...string[]] }>>;
  readonly limits?: Partial<LanguageServerLimits>;
  /** A file of ours, used to resolve bundled servers; null for none. */
  readonly bundledFrom?: string | null;
  log?(line: string): void;
}

/** A missing server may have been installed meanwhile. */
const RETRY_MS = 30_000;

export type LanguageServers = ReturnType<typeof createLanguageServers>;

/**
 * The language servers of a workspace, one for each root and language, shared by everybody. They are searched for and
 * started on first use.
 */
export function createLanguageServers(options: LanguageServersOptions) {
  const { confinement, sandbox, state, watcher, env, configured = {}, log = () => {} } = options;
  const { bundledFrom = import.meta.filename } = options;
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const childEnv = passedEnvironment(env);
  const findings = new Map<string, { finding: Promise<Finding>; at: number; isFound: boolean }>();
  const servers = new Map<string, LanguageServer>();
  let stopWatching: (() => void) | undefined;

  const rootOf = (path: Path): Path | undefined =>
    confinement.roots.filter((root) => isWithin(root, path)).reduce<Path | undefined>(longer, undefined);
  const keyOf = (path: Path) => {
    const root = rootOf(path);
    const language = fileLanguageOf(path)?.language;
    return root === undefined || language === undefined
      ? undefined
      : { root, language, key: `${language} ${root}` };
  };
  const look = (language: string, root: Path): Promise<Finding> => {
    const key = `${language} ${root}`;
    const around = { root, roots: confinement.roots, env, bundledFrom, sandbox, childEnv, configured };
    const known = findings.get(key);
    if (known && (known.isFound || performance.now() - known.at < RETRY_MS)) return known.finding;
    const look = { finding: findServer(language, around), at: performance.now(), isFound: false };
    findings.set(key, look);
    void look.finding.then(
      ({ kind }) => {
        look.isFound = kind === "found";
      },
      () => findings.delete(key),
    );
    return look.finding;
  };

  const changed = (paths: readonly Path[] | null) => {
    for (const server of servers.values()) server.changed(paths);
  };

  return {
    /** For the file at this path; when there is none, how to get one. */
    async find(path: Path): Promise<{ readonly server: LanguageServer } | { readonly how: string }> {
      const place = keyOf(path);
      if (!place) return { how: "set language_servers in your settings" };
      const finding = await look(place.language, place.root);
      if (finding.kind === "missing") return { how: finding.how };
      stopWatching ??= watcher.onChange(changed);
      watcher.poll();
      const { row, argv } = finding.server;
      const server =
        servers.get(place.key) ??
        new LanguageServer({
          name: row.name,
          root: place.root,
          confinement,
          limits,
          log,
          initializationOptions: row.initializationOptions,
          settings: row.settings,
          listed: row.listed,
          lacks: (file) => row.lacks?.(file, place.root),
          // A language server needs no network.
          start: () => startServer({ argv, root: place.root, env: childEnv, sandbox, network: "off", state }),
        });
      servers.set(place.key, server);
      return { server };
    },
    /** The one for this file, if it runs already. */
    running(path: Path): LanguageServer | undefined {
      if (servers.size === 0) return undefined;
      const place = keyOf(path);
      const server = place && servers.get(place.key);
      return server?.running && server;
    },
    /** For callers that have just changed files; saves waiting for the watcher. */
    changed: (paths: readonly Path[]) => changed(paths),
    /** Looks for every server that is known, for `ws.capabilities`. */
    async backends(): Promise<readonly Backend[]> {
      const root = confinement.roots[0]!;
      const languages = [
        ...new Set([...Object.keys(configured), ...SERVERS.map(({ language }) => language)]),
      ];
      const rows = await Promise.all(
        languages.map(async (language) => ({ language, finding: await look(language, root) })),
      );
      return rows.map(({ language, finding }) =>
        toBackend(language, finding, servers.get(`${language} ${root}`)),
      );
    },
    /** No process is left. */
    async close() {
      stopWatching?.();
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

const longer = (longest: Path | undefined, root: Path): Path =>
  longest === undefined || root.length > longest.length ? root : longest;

function toBackend(language: string, finding: Finding, server: LanguageServer | undefined): Backend {
  if (finding.kind === "missing")
    return {
      name: `lsp:${language}`,
      available: false,
      detail: `${finding.reasons.join("; ") || "none is known"}; ${finding.how}`,
    };
  const { row, version, where } = finding.server;
  const state = server?.state() ?? "is started when it is needed";
  return {
    name: `lsp:${language}`,
    available: true,
    ...(version && { version }),
    detail: `${row.name} (${where}) ${state}`,
  };
}
