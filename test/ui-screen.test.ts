// The screen backend on a private desktop: Xvfb with a window manager, a terminal and a graphical program.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacks } from "./ui/lacks.ts";
import { openUi, type UiClient } from "./ui/ui-client.ts";

const PARTS = ["xvfb", "openbox", "xterm", "xdotool", "maim", "ffmpeg"];
const screen = { profile: "screen" };
const started: ChildProcess[] = [];
let display = "";
let client: UiClient;

const start = (command: string, args: readonly string[]): ChildProcess => {
  // Without a UTF-8 locale xterm passes on Latin-1 only.
  const env = { ...process.env, DISPLAY: display, LC_ALL: "C.UTF-8" };
  const child = spawn(command, args, { env, stdio: "ignore" });
  started.push(child);
  return child;
};

/** A free display number, as found by Xvfb itself. */
async function startDisplay(): Promise<string> {
  const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  started.push(child);
  const [number] = await once(child.stdio[3]!, "data");
  return `:${String(number).trim()}`;
}

const findWindow = async (title: string) => {
  for (;;) {
    const { windows } = await client.ui("windows");
    const found = windows.find((window: { title: string }) => window.title === title);
    if (found) return found;
  }
};

test("the screen is off until the person enables it", async () => {
  await using plain = await openUi();
  const refused = await plain.fails("windows");
  expect(refused).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(refused.message).toContain("--screen");
  expect(await plain.fails("click", { target: "1,1", ...screen })).toMatchObject({
    code: "PERMISSION_DENIED",
  });
});

describe.skipIf(lacks(...PARTS))("a desktop under Xvfb", () => {
  beforeAll(async () => {
    display = await startDisplay();
    start("openbox", []);
    client = await openUi({ args: ["--screen"], env: { DISPLAY: display } });
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    for (const child of started.reverse()) child.kill("SIGKILL");
  });

  test("a terminal is focused and receives any letters and pressed keys", async () => {
    const out = join(client.root, "typed.txt");
    start("xterm", ["-u8", "-T", "Typing", "-geometry", "60x10+10+10", "-e", `cat > ${out}`]);
    await findWindow("Typing");
    expect(await client.ui("focus", { target: "typing", ...screen })).toEqual({ done: "focused Typing" });
    await client.ui("type", { text: "Grüße, 你好; $HOME", ...screen });
    await client.ui("press", { keys: ["Enter", "Control+d"], ...screen });
    await expect.poll(() => existsSync(out) && readFileSync(out, "utf8")).toBe("Grüße, 你好; $HOME\n");
    expect(await client.fails("focus", { target: "No such window", ...screen })).toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("a graphical program is clicked, and pictures of the screen, a region and a window have their sizes", async () => {
    const log = join(client.root, "events.txt");
    start("sh", ["-c", `xev -name Clicks -geometry 200x150+300+200 > ${log}`]);
    const window = await findWindow("Clicks");
    const target = `${window.x + 50},${window.y + 50}`;
    await client.ui("click", { target, button: "right", ...screen });
    await client.ui("hover", { target: `${window.x + 60},${window.y + 60}`, ...screen });
    await client.ui("scroll", { target, dy: 1, ...screen });
    await expect.poll(() => readFileSync(log, "utf8")).toMatch(/ButtonPress[\s\S]*button 3[\s\S]*button 5/);
    // Relative to the window, as its program saw it.
    expect(readFileSync(log, "utf8")).toMatch(/ButtonPress[\s\S]{1,300}\(50,50\)/);
    expect(await client.ui("screenshot", { ...screen })).toMatchObject({ width: 800, height: 600, scale: 1 });
    expect(await client.ui("screenshot", { target: "10,20,120,80", ...screen })).toMatchObject({
      width: 120,
      height: 80,
    });
    expect(await client.ui("screenshot", { target: "Clicks", ...screen })).toMatchObject({
      width: 200,
      height: 150,
    });
    expect(await client.fails("click", { target: "5000,1", ...screen })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test("a recording has its length, and a session finds the three planned changes", async () => {
    const begun = performance.now();
    const { recording } = await client.ui("record", screen);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { duration } = await client.ui("stop", { recording, output: "screen.mp4" });
    const passed = performance.now() - begun;
    expect(duration).toBeGreaterThan(1_000);
    expect(duration).toBeLessThan(passed + 500);
    for (const [index, wait] of [1, 3, 5].entries())
      start("sh", [
        "-c",
        `sleep ${wait}; exec xterm -T Planned${index} -geometry 20x5+${20 + index * 250}+300`,
      ]);
    const { changes } = await client.ui("session", { duration: 8_500, ...screen });
    expect(changes).toHaveLength(3);
  });
});
