import { type AnyAction, type Call, isFields, subjectOf } from "@octant/core";
import type { CallOutline, ToolKind } from "../tool-executor.ts";

const MAX_TITLE_CHARS = 120;
/** The argument that a search looks for; it is shown before the place. */
const SEARCHED = ["pattern", "query", "glob"] as const;

/** How a call is shown and scheduled, from its declaration and its arguments. */
export function outlineOf({ tool, action, input }: Call, act: AnyAction | undefined): CallOutline {
  const name = typeof action === "string" && action !== "" ? `${tool}.${action}` : tool;
  const fields = isFields(input) ? input : {};
  const kind = act ? kindOf(String(action), act) : "other";
  const subject = subjectOf(input);
  const searched = kind === "search" ? subjectOf(input, SEARCHED) : "";
  const about = searched === "" || searched === subject ? subject : `${searched} in ${subject}`;
  return {
    title: cut(`${name} ${about}`.trim()),
    kind,
    // An unknown call is refused without any effect.
    reads_only: !act || act.access === "read",
    ...(act?.parallel && { parallel: true }),
    paths: pathsOf(fields),
  };
}

function kindOf(action: string, act: AnyAction): ToolKind {
  if (act.access === "read")
    return /search|list|references|calls|query|definition/.test(action) ? "search" : "read";
  if (act.openWorld && act.intent !== "verify") return "fetch";
  if (/^(rm|delete|remove)/.test(action)) return "delete";
  return act.intent === "apply" ? "edit" : "execute";
}

const cut = (text: string): string => {
  const line = text.replace(/\p{Cc}+/gu, " ");
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…` : line;
};

function pathsOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const listed = Array.isArray(fields["files"]) ? fields["files"].map((file) => file?.uri) : [];
  return [fields["uri"], fields["path"], ...listed].flat().filter((path) => typeof path === "string");
}
