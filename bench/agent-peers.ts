import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createScriptedProvider, type ScriptedProvider } from "@octant/scripted-provider";
import { providerEnvironment } from "../eval/agent-environment.ts";

/** Another agent, as npm installs it without running scripts. */
interface Peer {
  readonly name: string;
  readonly package: string;
  /** Its program, as a glob below node_modules. */
  readonly program: string;
  /** One prompt without a screen. */
  readonly args: (provider: ScriptedProvider) => readonly string[];
  /** Settings that lead it to the scripted provider, by path below its home. */
  readonly files?: (provider: ScriptedProvider) => Readonly<Record<string, unknown>>;
}

const PROMPT = "hello";
const PEERS: readonly Peer[] = [
  {
    name: "pi",
    package: "@earendil-works/pi-coding-agent@0.87.1",
    program: ".bin/pi",
    args: () => ["--provider", "scripted", "--model", "scripted", "-p", PROMPT],
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
    args: (provider) => [
      ...["exec", "--skip-git-repo-check", "-c", 'model_provider="scripted"', "-c", 'model="gpt-5"'],
      ...[
        "-c",
        `model_providers.scripted={name="s",base_url="${provider.baseUrl("openai")}",env_key="OPENAI_API_KEY",wire_api="responses"}`,
      ],
      PROMPT,
    ],
  },
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    program: "@anthropic-ai/claude-code-linux-x64/claude",
    args: () => ["-p", PROMPT],
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    program: ".bin/gemini",
    args: () => ["--skip-trust", "-p", PROMPT],
    files: () => ({ ".gemini/settings.json": { security: { auth: { selectedType: "gemini-api-key" } } } }),
  },
];

const MAX_INSTALL_MS = 300_000;
const MAX_RUN_MS = 120_000;
const RUNS = 3;
const KB = 1_000;

/** The first request of each agent that npm can install here: its size, and when it arrives. The others are named. */
export async function measurePeers(): Promise<string> {
  const found: string[] = [];
  for (const peer of PEERS) found.push(`${peer.name} ${await measurePeer(peer)}`);
  return found.join("; ");
}

async function measurePeer(peer: Peer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-peer-"));
  try {
    const { status } = spawnSync(
      "npm",
      ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, peer.package],
      { stdio: "ignore", timeout: MAX_INSTALL_MS },
    );
    const [program] = globSync(peer.program, { cwd: join(folder, "node_modules") });
    if (status !== 0 || program === undefined) return "skipped: npm cannot install it here";
    return await firstRequest(peer, join(folder, "node_modules", program), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The largest request of a run is the one for the prompt; some ask for a title first. */
async function firstRequest(peer: Peer, program: string, folder: string): Promise<string> {
  let began = 0;
  const asked: { readonly ms: number; readonly bytes: number }[] = [];
  await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Hello." }] }), {
    forgets: true,
    models: ["scripted"],
    onRequest: ({ raw }) => asked.push({ ms: performance.now() - began, bytes: Buffer.byteLength(raw) }),
  });
  const home = join(folder, "home");
  const project = join(folder, "project");
  for (const path of [home, project]) mkdirSync(path);
  for (const [path, settings] of Object.entries(peer.files?.(provider) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), JSON.stringify(settings));
  }
  const env = { PATH: process.env["PATH"], HOME: home, ...providerEnvironment(provider) };
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
