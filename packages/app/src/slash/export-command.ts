import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { invalidArgument, ToolError, toOneLine } from "@octant/core";
import { errnoOf, pathToUri } from "@octant/host";
import { exportSession } from "../agent/sessions.ts";
import type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

export const exportCommand: SlashCommand = {
  name: "export",
  onlyInTerminal: true,
  argument: "[FILE]",
  summary: "Write this session to a file, .html, .md or .json; without one, to a page outside the project",
  run: writeExport,
};

/** By the ending of the name; one without an ending is a page. */
const FORMATS = { "": "html", ".html": "html", ".htm": "html", ".md": "markdown", ".json": "json" } as const;

/**
 * Without a name the file is not in the project, where a commit of everything would take it with all that tools have
 * answered; there a newer export of the session replaces the last one.
 */
async function writeExport(file: string, { opened, cwd }: SlashContext): Promise<SlashOutcome> {
  const { sessions, agent, env, octant } = opened;
  const { id, conversation } = agent.session;
  if (!conversation.model) throw new ToolError("NOT_FOUND", "this session has nothing to export yet", {});
  const isNamed = file !== "";
  const path = isNamed
    ? resolve(cwd, file.replace(/^~(?=\/)/, env["HOME"] ?? homedir()))
    : join(octant.workspace.state.folder("exports"), `${id}.html`);
  const ending = extname(path).toLowerCase();
  const format = Object.hasOwn(FORMATS, ending) ? FORMATS[ending as keyof typeof FORMATS] : undefined;
  if (!format)
    throw invalidArgument(
      "",
      `/export writes .html, .md or .json; the name '${toOneLine(file)}' ends otherwise`,
    );
  const text = await exportSession(sessions.events(id), format);
  const shown = isNamed ? file : path;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600, flag: isNamed ? "wx" : "w" });
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno !== "EEXIST" || !statSync(path, { throwIfNoEntry: false }))
      throw new ToolError("IO_ERROR", `${shown} cannot be written (${errno})`, {}, { cause });
    const uri = pathToUri(path);
    throw new ToolError("ALREADY_EXISTS", `${shown} exists; remove it, or name another file`, { uri });
  }
  return { text: `wrote \`${shown}\`` };
}
