import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TextDecoder } from "node:util";
import { PROVIDER_NAMES, PROVIDERS, type SessionStore } from "@octant/agent";
import { type Caller, invalidArgument } from "@octant/core";
import {
  type Confinement,
  createConfinement,
  openStateFolder,
  type Path,
  toNative,
  unifiedDiff,
} from "@octant/host";
import { loadConfig } from "@octant/runtime";
import type { Octant } from "../octant.ts";
import { listCommands, runSlashLine } from "../slash/index.ts";
import { loadVersion } from "../version.ts";
import type {
  AcpHost,
  FileDiff,
  ModelChoice,
  OpenedSession,
  TrustRequest,
  WorkspaceFiles,
} from "./acp-host-api.ts";
import { chooseClient, openClient } from "./choose-client.ts";
import {
  type HostServer,
  type OpenAgentOptions,
  type OpenedAgent,
  openAgent,
  type SessionChoice,
} from "./open-agent.ts";
import { isOwnSession, openSessionStore, openSessions } from "./sessions.ts";
import { declineTrust, findUntrusted, isDeclined, linesOfWaiting, trustWaiting } from "./untrusted.ts";

export interface AcpHostOptions
  extends Pick<OpenAgentOptions, "mode" | "tools" | "packs" | "provider" | "model" | "thinking"> {
  /** The folders that remote clients may open; a local client names its own. */
  readonly roots: readonly string[];
  /** Where the person's commands, such as /commit, run. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /**
   * The owner of a remote client: restricted to its own sessions and the served folders, and unable to add
   * rules for others.
   */
  readonly owner?: Caller | undefined;
  /** Connects to the server where the tools of a session run; they run here when absent. */
  readonly host?: (() => Promise<HostServer | undefined>) | undefined;
}

/** Workspaces, agents and logs for `octant acp`. */
export function createAcpHost(options: AcpHostOptions): AcpHost {
  const { cwd, env, provider, model, owner, roots: served, host: connect, ...workspace } = options;
  const stores = () => (owner ? openOwnSessions(options, owner) : openAllSessions(options));
  return {
    version: loadVersion(),
    async checkCredentials() {
      await chooseClient({ config: loadConfig({ roots: [], env }) }, env, { provider, model });
    },
    async open({ roots, resume, create, mcpServers, ask, tools, steps }) {
      const host = await connect?.();
      const opened = await openAgent({
        ...workspace,
        env,
        host,
        command: owner ? "bridge" : "acp",
        provider,
        model,
        owner,
        customTools: tools,
        ask,
        // With a host its folders count, not those of the editor.
        roots: owner ? checkServed(roots, served) : roots.map(host ? String : checkFolder),
        from: toChoice(resume, create),
        steps: (octant) => steps(toWorkspaceFiles(octant)),
        // A remote client must not start programs here or make us connect to addresses of its choice.
        servers: owner ? {} : Object.fromEntries(mcpServers.map(({ name, ...server }) => [name, server])),
      });
      const { agent, octant } = opened;
      try {
        const files = toWorkspaceFiles(octant);
        return {
          agent,
          findUntrusted: async () => (owner || opened.isRemote ? undefined : findTrustRequest(opened)),
          commands: listCommands(opened)
            .filter(({ onlyInTerminal, isForRemote }) => !onlyInTerminal && (isForRemote || !owner))
            .map(({ name, summary, argument }) => ({ name, description: summary, hint: argument })),
          async command(line, signal) {
            return (await runSlashLine(line, { opened, cwd, signal })) ?? {};
          },
          get mode() {
            return octant.modes.session(opened.caller);
          },
          setMode: (mode) => octant.modes.setSession(opened.caller, mode),
          modelId: opened.model,
          models: await findModels(octant, options, opened.model),
          async useModel(id) {
            await agent.useModel(await openClient(octant, env, { provider, model: id }));
          },
          events: () => opened.sessions.events(agent.session.id),
          pathOf: host ? (uri) => toHostPath(uri, opened.host.roots) : files.pathOf,
          diffsOf: files.diffsOf,
          [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
        } satisfies OpenedSession;
      } catch (cause) {
        await opened[Symbol.asyncDispose]();
        throw cause;
      }
    },
    list: async () =>
      (await Promise.all(stores().map((store) => store.list())))
        .flat()
        .filter(isOwnSession)
        .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)),
    async remove(sessionId) {
      for (const store of stores()) if (await hasSession(store, sessionId)) await store.remove(sessionId);
    },
  };
}

const toChoice = (resume: string | undefined, create: string | undefined): SessionChoice | undefined =>
  resume === undefined
    ? create === undefined
      ? undefined
      : { how: "create", id: create }
    : { how: "resume", id: resume };

/** The path of a URI, or of a path relative to the first root. */
function toHostPath(uri: string, roots: readonly string[]): string | undefined {
  const { href } = new URL(uri, `${roots[0]}/`);
  return roots.some((root) => href === root || href.startsWith(`${root}/`)) ? fileURLToPath(href) : undefined;
}

/** Throws unless a remote client asks for a served folder. */
function checkServed(asked: readonly string[], served: readonly string[]): readonly string[] {
  const other = asked.find((root) => !served.includes(root));
  if (other === undefined) return served;
  throw invalidArgument("cwd", `${other} is not served here; served: ${served.join(", ")}`);
}

function openOwnSessions(
  { roots: served, env, log }: AcpHostOptions,
  owner: Caller,
): readonly SessionStore[] {
  const roots = createConfinement(served).roots;
  const state = openStateFolder({ roots, env, warn: log });
  return [openSessions({ state }, owner)];
}

/** Matches the full id only: the store also accepts a prefix. */
const hasSession = async (store: SessionStore, id: string): Promise<boolean> =>
  (await store.resolve(id).catch(() => undefined)) === id;

function checkFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw invalidArgument("cwd", `${path} is not a folder`);
}

/** The session stores of all workspaces of this person. */
function openAllSessions({ env, log }: AcpHostOptions): readonly SessionStore[] {
  const { base } = openStateFolder({ roots: [], env, warn: log });
  return readdirSync(base)
    .map((name) => join(base, name, "sessions"))
    .filter((folder) => existsSync(folder))
    .map(openSessionStore);
}

/** The models to switch to: the chosen one, and the default of each provider with credentials. */
async function findModels(
  octant: Octant,
  { env, provider }: AcpHostOptions,
  current: string,
): Promise<readonly ModelChoice[]> {
  const names = provider ? [provider] : PROVIDER_NAMES;
  const found = await Promise.all(
    names.map(async (name) => {
      const id = PROVIDERS[name].default_model;
      if (id === null) return undefined;
      const chosen = await chooseClient(octant, env, { provider: name, model: id }).catch(() => undefined);
      return chosen && id;
    }),
  );
  const ids = [current, ...found.filter((id) => id !== undefined)];
  return [...new Set(ids)].map((id) => ({ id, name: id }));
}

const MAX_COMPARED_BYTES = 4 * 1024 * 1024;

function toWorkspaceFiles(octant: Octant): WorkspaceFiles {
  const { confinement, files, edits } = octant.workspace;
  const named = (path: Path) => toNative(path).toString();
  return {
    pathOf: (uri) => orUndefined(() => named(confinement.toPath(uri))),
    readText: (path) =>
      orUndefined(() => readFile(confinement, confinement.toPath(path), MAX_COMPARED_BYTES)),
    addRefScheme: (scheme, read) => void files.addRefScheme(scheme, read),
    useBuffers: ({ unsaved, save }) =>
      edits.useBuffers({
        async unsaved(path) {
          const text = await unsaved(named(path));
          return text === undefined ? undefined : Buffer.from(text);
        },
        save: (path, bytes) => save(named(path), bytes.toString()),
      }),
    observe: () => octant.checkpoints?.observe() ?? (async () => undefined),
    diffsOf: (undoRef) => readDiffs(octant, undoRef),
  };
}

/** The blob store has the replaced contents. */
function readDiffs({ workspace }: Octant, undoRef: string): readonly FileDiff[] {
  const { blobs, confinement, edits } = workspace;
  const textOf = (hash: string) => orUndefined(() => toText(blobs.get(hash)));
  return (orUndefined(() => edits.filesOf(undoRef)) ?? []).flatMap(({ uri, before, after }): FileDiff[] => {
    const path = confinement.toPath(uri);
    const oldText = before ? textOf(before.hash) : null;
    const newText = after ? (textOf(after.hash) ?? readFile(confinement, path)) : "";
    if (oldText === undefined || newText === undefined) return [];
    const name = toNative(path).toString();
    const toBytes = (text: string | null) => (text === null ? null : Buffer.from(text));
    const states = { before: toBytes(oldText), after: after ? toBytes(newText) : null };
    return [
      {
        path: name,
        oldText,
        newText,
        operation: oldText === null ? "add" : after ? "modify" : "delete",
        patch: () => unifiedDiff({ path: name.slice(1), ...states }),
      },
    ];
  });
}

/** undefined for a file that is missing, not text, or larger than `maxBytes`. */
const readFile = (confinement: Confinement, path: Path, maxBytes = Infinity): string | undefined =>
  orUndefined(() => {
    using file = confinement.openFile(path);
    return file.stat.size > maxBytes ? undefined : toText(readFileSync(file.fd));
  });

/** Throws for bytes that are not UTF-8; keeps the byte order mark. */
const toText = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

async function findTrustRequest({ untrusted, octant, env }: OpenedAgent): Promise<TrustRequest | undefined> {
  if (untrusted.length === 0 && octant.config.waiting.length === 0) return undefined;
  const { confinement, state } = octant.workspace;
  const waiting = await findUntrusted({ roots: confinement.roots, env });
  // The answers in a terminal are remembered there too.
  const folder = state.folder("chat");
  if (waiting.count === 0 || isDeclined(waiting, folder)) return undefined;
  return {
    lines: linesOfWaiting(waiting),
    trust: () => trustWaiting(waiting, { env }),
    decline: () => declineTrust(waiting, folder),
  };
}
