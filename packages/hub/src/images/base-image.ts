import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { findTrusted, runTrusted } from "@octant/host";
import type { ContainerEngine, OnLine } from "../engines/engine.ts";

/** The name of the hub's own image. */
export const BASE_IMAGE = "localhost/octant-base:latest";
const PACKAGES = ["git", "ca-certificates", "ripgrep"];
const RELEASE = "bookworm";
const TIMEOUT_MS = 3_600_000;
const MAX_REASON_CHARS = 1_000;
const WITHOUT = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*"];

/** Makes the base image from packages of Debian, without a registry. */
export async function buildBaseImage(
  {
    engine,
    folder,
    packages,
  }: { readonly engine: ContainerEngine; readonly folder: string; readonly packages: readonly string[] },
  onLine: OnLine,
  signal: AbortSignal,
): Promise<string> {
  const program = findTrusted("mmdebstrap");
  if (!program)
    throw new ToolError("UNSUPPORTED", "mmdebstrap is not installed on the hub's machine", {
      what: "the base image",
      how: "install it (apt-get install mmdebstrap), or name another image in the project",
    });
  const file = join(folder, `${newHandle("base", Date.now())}.tar`);
  try {
    const all = [...PACKAGES, ...packages];
    onLine(`mmdebstrap ${RELEASE} with ${all.join(", ")}; this takes some minutes`);
    const args = [
      "--variant=minbase",
      `--include=${all.join(",")}`,
      ...WITHOUT.map((glob) => `--dpkgopt=path-exclude=${glob}`),
      RELEASE,
      file,
    ];
    const { code, stderr } = await runTrusted(program, args, {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", TMPDIR: folder },
      timeoutMs: TIMEOUT_MS,
      signal,
      onStderrLine: onLine,
    });
    if (code !== 0)
      throw new ToolError(
        "UPSTREAM_ERROR",
        `mmdebstrap failed: ${stderr.trim().slice(-MAX_REASON_CHARS)}`,
        {},
      );
    onLine(`importing ${BASE_IMAGE}`);
    await engine.importImage(BASE_IMAGE, createReadStream(file), signal);
    return BASE_IMAGE;
  } finally {
    await rm(file, { force: true });
  }
}
