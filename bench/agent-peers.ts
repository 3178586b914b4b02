import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createScriptedProvider, type ScriptedProvider } from "@octant/scripted-provider";
import { providerEnvironment, TEST_KEY } from "../eval/agent-environment.ts";

/** An agent, as npm installs it without running scripts. */
export interface Peer {
  readonly name: string;
  /** Installed from the registry when it has no way of its own. */
  readonly package?: string;
  install?(folder: string): void;
  /** Its program, as a glob below node_modules. */
  readonly program: string;
  /** One prompt without a screen. */
  readonly args: (provider: ScriptedProvider) => readonly string[];
  /** The same model on a screen. */
  readonly screen: (provider: ScriptedProvider) => readonly string[];
  /** Settings that lead it past its first questions to the scripted provider, by path below its home. */
  readonly files?: (provider: ScriptedProvider, project: string) => Readonly<Record<string, unknown>>;
}

export interface PeerInstall {
  readonly program: string;
  /** A new home with its settings, and an empty project. */
  settle(provider: ScriptedProvider): {
    readonly home: string;
    readonly project: string;
    readonly env: NodeJS.ProcessEnv;
  };
}

const PROMPT = "hello";
export const PEERS: readonly Peer[] = [
  {
    name: "pi",
    package: "@earendil-works/pi-coding-agent@0.87.1",
    program: ".bin/pi",
    args: () => ["--provider", "scripted", "--model", "scripted", "-p", PROMPT],
    screen: () => ["--provider", "scripted", "--model", "scripted"],
    files: (provider) => ({
      ".pi/agent/models.json": {
        providers: {
          scripted: {
            baseUrl: provider.baseUrl("openai-chat"),
            api: "openai-completions",
            apiKey: "OPENAI_API_KEY",
            models: [{ id: "scripted" }],
          },
        },
      },
    }),
  },
  {
    name: "opencode",
    package: "opencode-ai",
    program: "opencode-linux-x64/bin/opencode",
    args: () => ["run", "--model", "scripted/scripted", PROMPT],
    screen: () => ["--model", "scripted/scripted"],
    files: (provider) => ({
      ".config/opencode/opencode.json": {
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: provider.baseUrl("openai-chat"), apiKey: "x" },
            models: { scripted: {} },
          },
        },
      },
    }),
  },
  {
    name: "Codex",
    package: "@openai/codex",
    program: ".bin/codex",
    args: (provider) => ["exec", "--skip-git-repo-check", ...codexProvider(provider), PROMPT],
    screen: codexProvider,
    files: (_, project) => ({ ".codex/config.toml": `[projects."${project}"]\ntrust_level = "trusted"\n` }),
  },
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    program: "@anthropic-ai/claude-code-linux-x64/claude",
    args: () => ["-p", PROMPT],
    screen: () => [],
    files: (_, project) => ({
      ".claude.json": {
        hasCompletedOnboarding: true,
        theme: "dark",
        customApiKeyResponses: { approved: [TEST_KEY.slice(-20)], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true } },
      },
    }),
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    program: ".bin/gemini",
    args: () => ["--skip-trust", "-p", PROMPT],
    screen: () => ["--skip-trust"],
    files: () => ({ ".gemini/settings.json": { security: { auth: { selectedType: "gemini-api-key" } } } }),
  },
];

function codexProvider(provider: ScriptedProvider): readonly string[] {
  const url = provider.baseUrl("openai");
  const scripted = `{name="s",base_url="${url}",env_key="OPENAI_API_KEY",wire_api="responses"}`;
  return [
    ...["-c", 'model_provider="scripted"', "-c", 'model="gpt-5"'],
    ...["-c", `model_providers.scripted=${scripted}`],
  ];
}

const MAX_INSTALL_MS = 300_000;
const MAX_RUN_MS = 120_000;
const RUNS = 3;
const KB = 1_000;

/** The first request of each agent that npm can install here: its size, and when it arrives. The others are named. */
export async function measurePeers(): Promise<string> {
  const found: string[] = [];
  for (const peer of PEERS)
    found.push(`${peer.name} ${await withPeer(peer, (install) => firstRequest(peer, install))}`);
  return found.join("; ");
}

/** Installs an agent into a folder that is removed afterwards; a text when that is not possible here. */
export async function withPeer<T>(
  peer: Peer,
  use: (install: PeerInstall) => Promise<T>,
): Promise<T | string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-bench-peer-")));
  try {
    const isInstalled = peer.package === undefined || installFromNpm(peer.package, folder);
    peer.install?.(folder);
    const [program] = globSync(peer.program, { cwd: join(folder, "node_modules") });
    if (!isInstalled || program === undefined) return "skipped: npm cannot install it here";
    return await use({
      program: join(folder, "node_modules", program),
      settle: (provider) => settle(peer, provider, folder),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const installFromNpm = (name: string, folder: string): boolean =>
  spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, name], {
    stdio: "ignore",
    timeout: MAX_INSTALL_MS,
  }).status === 0;

function settle(peer: Peer, provider: ScriptedProvider, folder: string) {
  const home = join(folder, "home");
  const project = join(folder, "project");
  for (const path of [home, project]) mkdirSync(path);
  for (const [path, settings] of Object.entries(peer.files?.(provider, project) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof settings === "string" ? settings : JSON.stringify(settings));
  }
  return { home, project, env: { PATH: process.env["PATH"], HOME: home, ...providerEnvironment(provider) } };
}

/** The largest request of a run is the one for the prompt; some ask for a title first. */
async function firstRequest(peer: Peer, { program, settle }: PeerInstall): Promise<string> {
  let began = 0;
  const asked: { readonly ms: number; readonly bytes: number }[] = [];
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Hello." }] }), {
    forgets: true,
    models: ["scripted"],
    onRequest: ({ raw }) => asked.push({ ms: performance.now() - began, bytes: Buffer.byteLength(raw) }),
  });
  const { project, env } = settle(provider);
  const firsts: number[] = [];
  let bytes = 0;
  for (let run = 0; run < RUNS; run++) {
    asked.length = 0;
    began = performance.now();
    const child = spawn(program, peer.args(provider), {
      cwd: project,
      env,
      stdio: "ignore",
      timeout: MAX_RUN_MS,
    });
    await new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
    const largest = asked.toSorted((a, b) => b.bytes - a.bytes)[0];
    if (!largest) return "skipped: it sent no request to a local provider";
    firsts.push(largest.ms);
    bytes = largest.bytes;
  }
  const [, middle = Number.NaN] = firsts.sort((a, b) => a - b);
  return `${(bytes / KB).toFixed(1)} kB after ${Math.round(middle)} ms`;
}
