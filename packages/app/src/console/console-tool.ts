import { defineTool } from "@octant/core";
import { audit, chain } from "./audit-actions.ts";
import { call, tools } from "./call-actions.ts";
import { edits, revert } from "./edit-actions.ts";
import { doctor, health, sandbox } from "./health-actions.ts";
import { link } from "./link-action.ts";
import { CONSOLE } from "./name.ts";
import type { ConsoleParts } from "./parts.ts";
import { explain, settings } from "./policy-actions.ts";
import { exportFile, fork, message, remove, resume, start, stop, takeBack } from "./session-actions.ts";
import { sessions, transcript } from "./session-reading.ts";
import { rewind, turns, undo } from "./undo-actions.ts";

export type ConsoleTool = ReturnType<typeof createConsoleTool>;

/** The person's own tool: what commands such as `octant audit` show, and what a person does with sessions. */
export const createConsoleTool = (parts: ConsoleParts) =>
  defineTool({
    name: CONSOLE,
    summary: "What a person sees and does in the console.",
    actions: {
      sessions: sessions(parts),
      transcript: transcript(parts),
      start: start(parts),
      message: message(parts),
      stop: stop(parts),
      take_back: takeBack(parts),
      resume: resume(parts),
      fork: fork(parts),
      remove: remove(parts),
      export: exportFile(parts),
      turns: turns(parts),
      undo: undo(parts),
      rewind: rewind(parts),
      tools: tools(parts),
      call: call(parts),
      audit: audit(parts),
      chain: chain(parts),
      edits: edits(parts),
      revert: revert(parts),
      explain: explain(parts),
      settings: settings(parts),
      sandbox: sandbox(parts),
      doctor: doctor(parts),
      health: health(parts),
      link: link(parts),
    },
  });
