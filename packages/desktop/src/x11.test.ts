import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createDesktop } from "./program.ts";
import { createX11 } from "./x11.ts";

const PARTS = ["xvfb", "xdotool", "maim", "imagemagick", "scrot"];
const { signal } = new AbortController();

/** From the header of a PNG. */
const sizeOf = (png: Buffer) => {
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
};

describe.skipIf(PARTS.some((part) => inject("missing").includes(part)))("pictures of a display", () => {
  let display = "";
  let server: ReturnType<typeof spawn>;
  beforeAll(async () => {
    server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "320x200x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    display = `:${String((await once(server.stdio[3]!, "data"))[0]).trim()}`;
  });
  afterAll(async () => {
    server.kill("SIGKILL");
    await once(server, "exit");
  });

  test.each(["maim", "import", "scrot"])("%s takes the whole screen and a region of it", async (program) => {
    const real = createDesktop({ ...process.env, DISPLAY: display });
    const others = ["maim", "import", "scrot"].filter((name) => name !== program);
    const find = (name: string) => (others.includes(name) ? undefined : real.find(name));
    const { picture } = createX11({ ...real, find });
    expect(sizeOf(await picture(undefined, signal))).toEqual([320, 200]);
    const region = { x: 10, y: 20, width: 120, height: 80 };
    expect(sizeOf(await picture(region, signal))).toEqual([120, 80]);
  });

  test("without any of them the error names one to install", async () => {
    const real = createDesktop({ ...process.env, DISPLAY: display });
    const { picture } = createX11({ ...real, find: () => undefined });
    await expect(picture(undefined, signal)).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});
