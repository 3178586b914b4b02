import { hash } from "node:crypto";
import { methods } from "@agentclientprotocol/sdk";
import type { CallStep, ToolCall, ToolResult } from "@octant/agent";
import type { WorkspaceFiles } from "@octant/app";
import { ToolError } from "@octant/core";
import type { EditorSession } from "./session.ts";

const SCHEME = "editor";

/**
 * Gives unsaved buffers precedence: a file that differs in the editor is read from there, and an edit starts from the
 * person's text. Every access first goes through the workspace's own tools, whose policy decides; the edit engine asks
 * for the buffers of the files that it is about to change.
 */
export function createEditorStep(editor: EditorSession, files: WorkspaceFiles): CallStep {
  const buffers = new Map<string, Uint8Array>();
  /** The hash of the unsaved text that the model has read, by path. */
  const seen = new Map<string | undefined, string>();
  files.addRefScheme(SCHEME, (ref) => {
    const bytes = buffers.get(ref);
    if (!bytes) throw new ToolError("NOT_FOUND", `${ref} has expired; read the file again`, { id: ref });
    return bytes;
  });
  const unsaved = async (path: string): Promise<string | undefined> => {
    const saved = files.readText(path);
    const text = saved === undefined ? undefined : await readBuffer(editor, path);
    if (saved === undefined || text === undefined || text === toBufferText(saved)) return undefined;
    return toFileText(text, saved);
  };
  files.useBuffers({ unsaved, save: (path, text) => saveBuffer(editor, path, text) });

  const toRef = (text: string): string => {
    const ref = `${SCHEME}:buffer_${(buffers.size + 1).toString(36)}`;
    buffers.set(ref, Buffer.from(text));
    return ref;
  };
  const refsOf = async (uris: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const found = uris.map(async (uri): Promise<readonly [string, string][]> => {
      const path = files.pathOf(uri);
      const text = path === undefined ? undefined : await unsaved(path);
      seen.delete(path);
      if (text === undefined) return [];
      seen.set(path, `sha256:${hash("sha256", text)}`);
      return [[uri, toRef(text)]];
    });
    return new Map((await Promise.all(found)).flat());
  };
  /** An edit without a base hash applies to the text that the model has read, not to the file on disk. */
  const withBase = (call: ToolCall): ToolCall => {
    const { action, uri, base_hash, files: several } = call.input;
    if (call.name !== "fs" || action !== "apply_patch" || typeof uri !== "string") return call;
    const known = seen.get(files.pathOf(uri));
    if (known === undefined || base_hash !== undefined || several !== undefined) return call;
    return { ...call, input: { ...call.input, base_hash: known } };
  };
  /** Files that a call changed although the person has unsaved text of them open. */
  const changedUnder = async (undoRef: string | undefined): Promise<readonly string[]> => {
    if (undoRef === undefined) return [];
    const found = files.diffsOf(undoRef).map(async ({ path, oldText, newText }) => {
      const text = await readBuffer(editor, path);
      const known = [oldText ?? "", newText].map(toBufferText);
      return text === undefined || known.includes(text) ? [] : [path];
    });
    return (await Promise.all(found)).flat();
  };

  return async (call, { reads_only, paths }, next) => {
    const changes = reads_only ? undefined : files.observe();
    const result = await next(withBase(call));
    for (const { path } of result.facts?.changed ?? []) seen.delete(files.pathOf(path));
    if (isRead(call)) {
      const refs = result.is_error ? new Map() : await refsOf(paths);
      if (refs.size === 0) return result;
      const read = await next({ ...call, input: withRefs(call.input, refs) });
      const names = [...refs].map(([uri, ref]) => `${uri} (${ref})`).join(", ");
      return withNote(read, `Unsaved in the editor, as the person sees it: ${names}`);
    }
    // Only some tools return an undo ref: a checkout, a test and a tool of an MCP server change files too.
    const under = await changedUnder(result.facts?.undo_ref ?? (await changes?.()));
    if (under.length === 0) return result;
    return withNote(
      result,
      `This changed files on disk that have unsaved changes in the editor: ${under.join(", ")}. Tell the person before anything else: saving there would overwrite the change, and reloading would lose their text.`,
    );
  };
}

const withNote = (result: ToolResult, note: string): ToolResult => ({
  ...result,
  content: [{ type: "text", text: `${note}\n` }, ...result.content],
});

async function readBuffer({ client, id }: EditorSession, path: string): Promise<string | undefined> {
  try {
    return (await client.request(methods.client.fs.readTextFile, { sessionId: id, path })).content;
  } catch {
    // The editor refuses files that it has not opened or may not show; the file on disk counts then.
    return undefined;
  }
}

/** Sets the buffer's text and saves it; false when the editor cannot. */
async function saveBuffer({ client, id, capabilities }: EditorSession, path: string, content: string) {
  if (!capabilities.fs?.writeTextFile) return false;
  return client.request(methods.client.fs.writeTextFile, { sessionId: id, path, content }).then(
    () => true,
    () => false,
  );
}

/** Only this action also reads refs. */
const isRead = ({ name, input }: ToolCall) => name === "fs" && input["action"] === "read";

function withRefs(input: ToolCall["input"], refs: ReadonlyMap<string, string>): ToolCall["input"] {
  const replace = (uri: unknown) => (typeof uri === "string" ? (refs.get(uri) ?? uri) : uri);
  const { uri } = input;
  return { ...input, uri: Array.isArray(uri) ? uri.map(replace) : replace(uri) };
}

const BOM = "\ufeff";

/** Editors store line endings and the byte order mark separately from the text. */
const toBufferText = (text: string) => text.replace(BOM, "").replaceAll("\r\n", "\n");

function toFileText(text: string, saved: string): string {
  const plain = toBufferText(text);
  const lines = saved.includes("\r\n") ? plain.replaceAll("\n", "\r\n") : plain;
  return saved.startsWith(BOM) ? `${BOM}${lines}` : lines;
}
