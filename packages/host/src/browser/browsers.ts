import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt, type Backend, ToolError } from "@octant/core";
import type { Browser } from "playwright-core";
import type { Denied } from "../denials.ts";
import { IDENTITY, isDead, thisProcess } from "../jobs/process-identity.ts";
import type { HttpProxy, LocalSite } from "../network/http-proxy.ts";
import type { Network } from "../network/network.ts";
import { passedEnvironment } from "../processes/environment.ts";
import { makeServerFolder, removeServerFolder } from "../processes/leftovers.ts";
import type { Workspace } from "../workspace.ts";
import { type BrowserStart, startBrowserProcess } from "./browser-process.ts";
import { createDownloadLimit, type DownloadLimit } from "./download-limit.ts";
import { unreachable } from "./failures.ts";
import { type FoundBrowser, findBrowser } from "./find-browser.ts";
import { loadPlaywright } from "./playwright.ts";
import { Profile } from "./profile.ts";
import { createWorkspaceSite } from "./workspace-site.ts";

export interface BrowserSettings {
  /** A program, a channel, or the URL of a running browser. */
  readonly browser?: string | undefined;
  readonly headless?: boolean | undefined;
  /** For all downloads of one browser. */
  readonly maxDownloadBytes: number;
}

export interface BrowsersOptions {
  readonly workspace: Pick<Workspace, "confinement" | "denials" | "sandbox" | "state">;
  readonly network: Network;
  /** The denials of rules for every page, since a page outlives the call that opened it. */
  denied?(): Denied | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly settings: BrowserSettings;
}

interface Running {
  readonly browser: Browser;
  readonly proxy: HttpProxy;
  readonly profiles: Set<Profile>;
  readonly downloadLimit: DownloadLimit;
  /** Ends it when it has had no profile for a while. */
  lingering?: NodeJS.Timeout;
  end(): Promise<void>;
}

const MAX_PROFILES = 24;
/** A browser without profiles stays this long for the next one. */
const LINGER_MS = 30_000;

export const createBrowsers = (options: BrowsersOptions): Browsers => new Browsers(options);

/** Browsers with their profiles. Nothing is loaded or started before a page is opened. */
export class Browsers {
  readonly #options: BrowsersOptions;
  /** One for local callers and one for remote ones, because they may reach different hosts. */
  readonly #running = new Map<boolean, Promise<Running>>();
  readonly #profiles = new Map<string, Profile>();
  readonly #opening = new Map<string, Promise<Profile>>();
  #version: string | undefined;
  #isApart: boolean | undefined;

  constructor(options: BrowsersOptions) {
    this.#options = options;
  }

  /** The profile of that name, created when there is none; UNSUPPORTED without a browser. */
  async open(owner: string, name: string, isRemote: boolean): Promise<Profile> {
    const key = keyOf(owner, name);
    const known = this.#profiles.get(key) ?? this.#opening.get(key);
    if (known) return known;
    if (this.#profiles.size + this.#opening.size >= MAX_PROFILES) {
      const message = `${MAX_PROFILES} profiles are open; end some with ui.tabs op quit`;
      throw new ToolError("LIMIT_EXCEEDED", message, { limit: MAX_PROFILES, what: "browser profiles" });
    }
    const made = this.#make(owner, name, isRemote).finally(() => this.#opening.delete(key));
    this.#opening.set(key, made);
    return made;
  }

  find(owner: string, name: string): Profile | undefined {
    return this.#profiles.get(keyOf(owner, name));
  }

  list(owner: string): readonly Profile[] {
    return [...this.#profiles.values()].filter((profile) => profile.owner === owner);
  }

  /** False when there was none. */
  async close(owner: string, name: string): Promise<boolean> {
    const profile = this.find(owner, name);
    await profile?.close();
    return profile !== undefined;
  }

  async closeAll(): Promise<void> {
    const all = await Promise.allSettled(this.#running.values());
    await Promise.all(all.map((one) => (one.status === "fulfilled" ? one.value.end() : undefined)));
  }

  async backend(): Promise<Backend> {
    try {
      const found = this.#look();
      if (found.kind === "endpoint")
        return { name: "browser", available: true, detail: "the endpoint of the settings" };
      const where = this.#isApart ? "runs in the sandbox" : "runs without our sandbox";
      const detail = `${found.path}; ${this.#isApart === undefined ? "is started when it is needed" : where}`;
      return { name: "browser", available: true, ...(this.#version && { version: this.#version }), detail };
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return { name: "browser", available: false, detail: cause.message };
    }
  }

  #look(): FoundBrowser {
    const { workspace, env, settings } = this.#options;
    return findBrowser({ wanted: settings.browser, env, roots: workspace.confinement.roots });
  }

  async #make(owner: string, name: string, isRemote: boolean): Promise<Profile> {
    const own = await this.#get(isRemote);
    const { browser, proxy, downloadLimit, profiles } = own;
    const isElsewhere = this.#options.settings.browser?.includes("://");
    const profile = await Profile.open({
      name,
      owner,
      browser,
      downloadLimit,
      context: { ...(isElsewhere && { proxy: { server: proxy.address, bypass: "<-loopback>" } }) },
      refused: (url) => proxy.refusal(toProxyHost(url)),
      onClose: (closed) => {
        profiles.delete(closed);
        this.#profiles.delete(keyOf(owner, name));
        clearTimeout(own.lingering);
        own.lingering = setTimeout(() => profiles.size === 0 && void own.end(), LINGER_MS).unref();
      },
    });
    profiles.add(profile);
    this.#profiles.set(keyOf(owner, name), profile);
    return profile;
  }

  #get(isRemote: boolean): Promise<Running> {
    const running = this.#running.get(isRemote) ?? this.#start(isRemote);
    this.#running.set(isRemote, running);
    running.catch(() => this.#running.delete(isRemote));
    return running;
  }

  async #start(isRemote: boolean): Promise<Running> {
    const { workspace, network, settings, denied } = this.#options;
    const found = this.#look();
    await using cleanUp = new AsyncDisposableStack();
    const folder = makeBrowserFolder();
    cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
    const files = createWorkspaceSite(workspace.confinement);
    const site: LocalSite = {
      ...files,
      answer: (...request) => workspace.denials.during(denied?.(), () => files.answer(...request)),
    };
    let proxy: HttpProxy | undefined;
    cleanUp.defer(async () => proxy?.close());
    const openProxy: BrowserStart["openProxy"] = async (listen) => {
      await proxy?.close();
      proxy = await network.openProxy({ listen, isRemote, site, denies: (host) => denied?.()?.host(host) });
      return proxy.address;
    };
    const browser = await this.#connect(found, folder, openProxy, cleanUp);
    this.#version = browser.version();
    const rest = cleanUp.move();
    let ending: Promise<void> | undefined;
    const end = async () => {
      await browser.close().catch(() => {});
      await rest.disposeAsync();
    };
    const own: Running = {
      browser,
      proxy: proxy!,
      profiles: new Set<Profile>(),
      downloadLimit: createDownloadLimit(folder, settings.maxDownloadBytes),
      end() {
        clearTimeout(own.lingering);
        ending ??= end();
        return ending;
      },
    };
    browser.on("disconnected", () => {
      for (const { owner, name } of own.profiles) this.#profiles.delete(keyOf(owner, name));
      this.#running.delete(isRemote);
      void own.end();
    });
    return own;
  }

  /** Connects to the endpoint, or starts the program. */
  async #connect(
    found: FoundBrowser,
    folder: string,
    openProxy: BrowserStart["openProxy"],
    cleanUp: AsyncDisposableStack,
  ): Promise<Browser> {
    const { workspace, env, settings } = this.#options;
    const { chromium } = await loadPlaywright();
    if (found.kind === "endpoint") {
      await openProxy("port");
      this.#isApart = false;
      return chromium.connectOverCDP(found.url, { artifactsDir: folder }).catch((cause) => {
        throw unreachable(found.url, cause);
      });
    }
    const mark = `${thisProcess()}:${randomBytes(8).toString("hex")}`;
    const marks = workspace.state.folder("processes");
    makeServerFolder(marks, mark);
    cleanUp.defer(() => removeServerFolder(marks, mark));
    const started = await startBrowserProcess({
      program: found.path,
      needsHost: found.needsHost,
      headless: settings.headless ?? true,
      sandbox: workspace.sandbox,
      folder,
      openProxy,
      mark,
      env: passedEnvironment(env),
    });
    cleanUp.defer(started.end);
    this.#isApart = started.isApart;
    return chromium.connectOverCDP(started.transport, { artifactsDir: folder });
  }
}

const keyOf = (owner: string, name: string) => JSON.stringify([owner, name]);

/** The host as the proxy knows it: a WebSocket is tunnelled, for which 443 is the default port. */
function toProxyHost(url: string): string {
  const parsed = URL.parse(url);
  return parsed?.protocol === "ws:" && parsed.port === "" ? `${parsed.host}:80` : (parsed?.host ?? "");
}

const FOLDER = new RegExp(`^octant-browser-(${IDENTITY})-`);

/** A private folder for one browser. Removes folders of killed servers. */
function makeBrowserFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const [, server] = FOLDER.exec(name) ?? [];
    // It may belong to another user.
    if (server !== undefined && isDead(server))
      attempt(() => rmSync(join(tmpdir(), name), { recursive: true, force: true }));
  }
  return mkdtempSync(join(tmpdir(), `octant-browser-${thisProcess()}-`));
}
