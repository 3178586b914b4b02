import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestDevice } from "../packages/terminal/src/testing/device.ts";
import { toHtml } from "../packages/terminal/src/testing/picture.ts";

export const PICTURES = join(import.meta.dirname, "../docs/pictures");

/** Pixels of one character in the page, and around all of them. */
const CELL = { width: 9.03, height: 18.75 };
const MARGIN = 32;

/** Draws what the terminal shows. `work` is a folder for the page. */
export async function shoot(
  name: string,
  device: Pick<TestDevice, "screen" | "terminal" | "columns">,
  background: "dark" | "light",
  work: string,
): Promise<void> {
  const used = (await device.screen()).findLastIndex((row) => row.trim() !== "") + 1;
  const page = join(work, `${name}.html`);
  writeFileSync(page, toHtml(device.terminal, background));
  execFileSync(
    "chromium",
    [
      "--headless",
      "--no-sandbox",
      "--hide-scrollbars",
      "--force-device-scale-factor=2",
      `--window-size=${Math.ceil(device.columns * CELL.width) + MARGIN},${Math.ceil(used * CELL.height) + MARGIN}`,
      `--screenshot=${join(PICTURES, `${name}.png`)}`,
      `file://${page}`,
    ],
    { stdio: "ignore" },
  );
}
