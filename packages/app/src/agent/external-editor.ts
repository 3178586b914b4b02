import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";

/** Opens the text in $VISUAL or $EDITOR; the program never comes from the project. */
export async function editExternally(
  text: string,
  env: NodeJS.ProcessEnv,
  roots: readonly string[],
): Promise<string> {
  const [name = "vi", ...args] = (env["VISUAL"] || env["EDITOR"] || "vi").split(/\s+/);
  const path = pathOutsideProjects(env["PATH"] ?? "", roots);
  const program = name.startsWith("/") ? name : findOutsideProjects(name, path, roots);
  if (program === undefined) {
    const how = "set VISUAL or EDITOR to a program that is on your PATH";
    throw new ToolError("UNSUPPORTED", `the editor '${name}' was not found; ${how}`, {
      what: "an external editor",
      how,
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "octant-message-"));
  try {
    const file = join(folder, "message.md");
    writeFileSync(file, text, { mode: 0o600 });
    await once(
      startLaunched(program, [...args, file], { stdio: "inherit", env: { ...env, PATH: path } }),
      "exit",
    );
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
