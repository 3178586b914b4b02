import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";

const MAX_BYTES = 1024 * 1024;

export type ContainerLog = ReturnType<typeof openContainerLog>;

/** The log of a container: lines with their time; the oldest are dropped beyond two files. */
export function openContainerLog(file: string) {
  const earlier = `${file}.1`;
  return {
    add(text: string): void {
      const at = new Date().toISOString();
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      if (lines.length === 0) return;
      if (existsSync(file) && statSync(file).size > MAX_BYTES) renameSync(file, earlier);
      appendFileSync(file, lines.map((line) => `${at} ${line}\n`).join(""), { mode: 0o600 });
    },
    /** Oldest first. */
    lines(): readonly string[] {
      return [earlier, file]
        .filter((one) => existsSync(one))
        .flatMap((one) => readFileSync(one, "utf8").split("\n").filter(Boolean));
    },
    remove(): void {
      for (const one of [earlier, file]) rmSync(one, { force: true });
    },
  };
}
