import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, inject, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { LAUNCHER } from "./published-command.ts";

const KEY = "sk-in-the-keyring-0123456789abcdef";
const NEEDED = ["libsecret-tools", "gnome-keyring", "dbus"];
const isMissing = NEEDED.some((name) => inject("missing").includes(name));

/** Each line is preceded by its name, so that the test finds what it printed. */
const SCRIPT = `
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
octant() { "$NODE" "$LAUNCHER" "$@"; }
echo "[login]"; printf '%s\\n' "$KEY" | octant login anthropic 2>&1
echo "[stored]"; secret-tool lookup service octant account anthropic
echo "[auth]"; octant auth 2>&1
unset KEY
echo "[run]"; octant run "are you there?" --model m 2>&1
echo "[no keyring]"; OCTANT_KEYRING=off octant auth 2>&1
echo "[logout]"; octant logout anthropic 2>&1
echo "[gone]"; secret-tool lookup service octant account anthropic || echo none
`;

test.skipIf(isMissing)(
  "a key lives in the system's keyring where there is one, and the file has no secret",
  async () => {
    using project = createFixtureProject();
    await using provider = await createScriptedProvider(() => ({ parts: [{ text: "I am here." }] }));
    const env = {
      ...project.env,
      NODE: process.execPath,
      LAUNCHER,
      KEY,
      XDG_DATA_HOME: join(project.env["HOME"] ?? "", "share"),
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const child = spawn("dbus-run-session", ["--", "bash", "-c", SCRIPT], {
      cwd: project.root,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const shown = await text(child.stdout);
    const part = (name: string) => new RegExp(`\\[${name}\\]\\n([^[]*)`).exec(shown)?.[1] ?? "";
    expect(part("login"), shown).toContain("stored in the system's keyring (secret-tool)");
    expect(JSON.parse(part("stored"))).toEqual({ kind: "api_key", key: KEY });
    expect(part("auth")).toMatch(
      /anthropic +octant login +API key in the system's keyring \(secret-tool\) +used/,
    );
    expect(part("run")).toContain("I am here.");
    expect(provider.requests.at(-1)?.headers["x-api-key"]).toBe(KEY);
    expect(part("no keyring")).toContain("in a keyring that is closed");
    expect(part("logout")).toContain("signed out of anthropic");
    expect(part("gone")).toBe("none\n");
    const file = join(project.env["HOME"] ?? "", ".config/hanzo/credentials.json");
    expect(readFileSync(file, "utf8")).not.toContain(KEY);
  },
  90_000,
);
