import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type Backend, ToolError } from "@octant/core";
import type { Browser } from "playwright-core";
import { thisProcess } from "../jobs/process-identity.ts";
import type { HttpProxy, Network } from "../network/index.ts";
import { passedEnvironment } from "../processes/environment.ts";
import { makeServerFolder, removeServerFolder } from "../processes/leftovers.ts";
import type { Workspace } from "../workspace.ts";
import { makeBrowserFolder } from "./browser-folder.ts";
import { startBrowserProcess } from "./browser-process.ts";
import { createDownloadLimit, type DownloadLimit } from "./download-limit.ts";
import { unreachable } from "./failures.ts";
import { findBrowser } from "./find-browser.ts";
import { loadPlaywright } from "./playwright.ts";
import { createProfile, type Profile } from "./profile.ts";
import { createWorkspaceSite } from "./workspace-site.ts";

/** Browsers with their profiles. Nothing is loaded or started before a page is opened. */
export interface Browsers {
  /** The profile of that name, created when there is none; UNSUPPORTED without a browser. */
  open(owner: string, name: string, isRemote: boolean): Promise<Profile>;
  find(owner: string, name: string): Profile | undefined;
  list(owner: string): readonly Profile[];
  /** False when there was none. */
  close(owner: string, name: string): Promise<boolean>;
  backend(): Promise<Backend>;
  closeAll(): Promise<void>;
}

export interface BrowserSettings {
  /** A program, a channel, or the URL of a running browser. */
  readonly browser?: string | undefined;
  readonly headless?: boolean | undefined;
  /** For all downloads of one browser. */
  readonly maxDownloadBytes: number;
}

export interface BrowsersOptions {
  readonly workspace: Pick<Workspace, "confinement" | "sandbox" | "state">;
  readonly network: Network;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: BrowserSettings;
}

interface Running {
  readonly browser: Browser;
  readonly proxy: HttpProxy;
  readonly profiles: Set<Profile>;
  readonly isApart: boolean;
  readonly downloadLimit: DownloadLimit;
  end(): Promise<void>;
}

const MAX_PROFILES = 24;
/** A browser without profiles stays this long for the next one. */
const LINGER_MS = 30_000;

export function createBrowsers({ workspace, network, env, settings }: BrowsersOptions): Browsers {
  const { confinement, sandbox, state } = workspace;
  const { headless = true } = settings;
  /** One for local callers and one for remote ones, because they may reach different hosts. */
  const running = new Map<boolean, Promise<Running>>();
  const profiles = new Map<string, Profile>();
  const keyOf = (owner: string, name: string) => JSON.stringify([owner, name]);
  const look = () => findBrowser({ wanted: settings.browser, env, roots: confinement.roots });
  let version: string | undefined;
  let isApart: boolean | undefined;

  const start = async (isRemote: boolean): Promise<Running> => {
    const found = look();
    const { chromium } = await loadPlaywright();
    const folder = makeBrowserFolder();
    const downloadLimit = createDownloadLimit(folder, settings.maxDownloadBytes);
    const site = createWorkspaceSite(confinement);
    let proxy: HttpProxy | undefined;
    const openProxy = async (listen: "socket" | "port"): Promise<string> => {
      await proxy?.close();
      proxy = await network.openProxy({ listen, isRemote, site });
      return proxy.address;
    };
    const cleanUp = async () => {
      await proxy?.close();
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      if (found.kind === "endpoint") {
        await openProxy("port");
        const browser = await chromium.connectOverCDP(found.url, { artifactsDir: folder }).catch((cause) => {
          throw unreachable(found.url, cause);
        });
        return toRunning({ browser, proxy: proxy!, isApart: false, downloadLimit }, cleanUp);
      }
      const mark = `${thisProcess()}:${randomBytes(8).toString("hex")}`;
      const marks = state.folder("processes");
      makeServerFolder(marks, mark);
      const forget = () => removeServerFolder(marks, mark);
      try {
        const { path: program, needsHost } = found;
        const started = await startBrowserProcess({
          ...{ program, needsHost, headless, sandbox, folder, openProxy, mark },
          env: passedEnvironment(env),
        });
        const browser = await chromium.connectOverCDP(started.transport, { artifactsDir: folder });
        return toRunning({ browser, proxy: proxy!, isApart: started.isApart, downloadLimit }, async () => {
          await started.end();
          forget();
          await cleanUp();
        });
      } catch (cause) {
        forget();
        throw cause;
      }
    } catch (cause) {
      await cleanUp();
      throw cause;
    }
  };

  const toRunning = (
    parts: Pick<Running, "browser" | "proxy" | "isApart" | "downloadLimit">,
    cleanUp: () => Promise<void>,
  ): Running => {
    const { browser } = parts;
    isApart = parts.isApart;
    version = browser.version();
    let ending: Promise<void> | undefined;
    const own: Running = {
      ...parts,
      profiles: new Set(),
      end: () =>
        (ending ??= browser
          .close()
          .catch(() => {})
          .then(cleanUp)),
    };
    browser.on("disconnected", () => {
      for (const profile of own.profiles) profiles.delete(keyOf(profile.owner, profile.name));
      for (const [key, other] of running)
        void other.then((one) => {
          if (one === own) running.delete(key);
        });
      void own.end();
    });
    return own;
  };

  const get = (isRemote: boolean): Promise<Running> => {
    const known = running.get(isRemote);
    if (known) return known;
    const starting = start(isRemote);
    running.set(isRemote, starting);
    starting.catch(() => running.delete(isRemote));
    return starting;
  };

  const lingering = new Map<Running, NodeJS.Timeout>();
  const linger = (own: Running) => {
    clearTimeout(lingering.get(own));
    const timer = setTimeout(() => own.profiles.size === 0 && void own.end(), LINGER_MS);
    timer.unref();
    lingering.set(own, timer);
  };

  const opening = new Map<string, Promise<Profile>>();
  const make = async (owner: string, name: string, isRemote: boolean): Promise<Profile> => {
    const own = await get(isRemote);
    const { browser, proxy, downloadLimit } = own;
    const profile = await createProfile({
      ...{ name, owner, browser, downloadLimit },
      context: {
        ...(settings.browser?.includes("://") && { proxy: { server: proxy.address, bypass: "<-loopback>" } }),
      },
      refused: (url) => proxy.refusal(toProxyHost(url)),
    });
    own.profiles.add(profile);
    const made: Profile = {
      ...profile,
      async close() {
        own.profiles.delete(profile);
        profiles.delete(keyOf(owner, name));
        await profile.close();
        if (own.profiles.size === 0) linger(own);
      },
    };
    profiles.set(keyOf(owner, name), made);
    return made;
  };

  return {
    async open(owner, name, isRemote) {
      const key = keyOf(owner, name);
      const known = profiles.get(key) ?? opening.get(key);
      if (known) return known;
      if (profiles.size + opening.size >= MAX_PROFILES)
        throw new ToolError(
          "LIMIT_EXCEEDED",
          `${MAX_PROFILES} profiles are open; end some with ui.tabs op quit`,
          {
            limit: MAX_PROFILES,
            what: "browser profiles",
          },
        );
      const made = make(owner, name, isRemote).finally(() => opening.delete(key));
      opening.set(key, made);
      return made;
    },
    find: (owner, name) => profiles.get(keyOf(owner, name)),
    list: (owner) => [...profiles.values()].filter((profile) => profile.owner === owner),
    async close(owner, name) {
      const profile = profiles.get(keyOf(owner, name));
      await profile?.close();
      return profile !== undefined;
    },
    async backend() {
      try {
        const found = look();
        if (found.kind === "endpoint")
          return { name: "browser", available: true, detail: "the endpoint of the settings" };
        const where =
          isApart === undefined
            ? "; is started when it is needed"
            : isApart
              ? "; runs in the sandbox"
              : "; runs without our sandbox";
        return {
          name: "browser",
          available: true,
          ...(version && { version }),
          detail: `${found.path}${where}`,
        };
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return { name: "browser", available: false, detail: cause.message };
      }
    },
    async closeAll() {
      for (const timer of lingering.values()) clearTimeout(timer);
      const all = await Promise.allSettled(running.values());
      await Promise.all(all.map((one) => (one.status === "fulfilled" ? one.value.end() : undefined)));
    },
  };
}

/** The host as the proxy knows it: a WebSocket is tunnelled, for which 443 is the default port. */
function toProxyHost(url: string): string {
  const parsed = URL.parse(url);
  return parsed?.protocol === "ws:" && parsed.port === "" ? `${parsed.host}:80` : (parsed?.host ?? "");
}
