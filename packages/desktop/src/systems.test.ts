import { expect, test } from "vitest";
import { findSystem } from "./systems.ts";

const look = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv, ...programs: string[]) =>
  findSystem({ platform, env, find: (program) => programs.includes(program) || undefined });

test("in WSL the desktop of Windows is driven, unless X11 is ready to be", () => {
  expect(look("linux", {}, "powershell.exe")).toEqual({ name: "Windows" });
  expect(look("linux", { DISPLAY: ":0", WAYLAND_DISPLAY: "w" }, "powershell.exe")).toEqual({
    name: "Windows",
  });
  expect(look("linux", { DISPLAY: ":0" }, "powershell.exe", "xdotool")).toEqual({ name: "X11" });
  expect(look("win32", {}, "powershell.exe")).toEqual({ name: "Windows" });
});

test("a desktop that cannot be driven is reported with the reason and the next step", () => {
  expect(look("linux", { DISPLAY: ":0" }).why?.how).toContain("apt-get install xdotool");
  expect(look("linux", {}).why?.message).toContain("DISPLAY is not set");
  expect(look("linux", { WAYLAND_DISPLAY: "w" }).why?.message).toContain("Wayland");
  expect(look("darwin", {}).why?.how).toBe("brew install cliclick");
  expect(look("freebsd", {}).why?.message).toContain("not on freebsd");
});
