import { methods } from "@agentclientprotocol/sdk";
import { type ToolCall, type ToolExecutor, type ToolResult, toFailure } from "@octant/agent";
import { ToolError } from "@octant/core";
import type { WorkspaceFiles } from "./host.ts";
import type { EditorSession } from "./session.ts";

const SCHEME = "editor";

/**
 * Gives unsaved buffers precedence: a file that differs in the editor is read from there, and is saved before a call
 * changes it, so that nothing the person typed is lost. Every access first goes through the workspace's own tools,
 * whose policy decides.
 */
export function withEditorFiles(
  tools: ToolExecutor,
  editor: EditorSession,
  files: WorkspaceFiles,
): ToolExecutor {
  const buffers = new Map<string, Uint8Array>();
  files.addRefScheme(SCHEME, (ref) => {
    const bytes = buffers.get(ref);
    if (!bytes) throw new ToolError("NOT_FOUND", `${ref} has expired; read the file again`, { id: ref });
    return bytes;
  });

  const findUnsaved = async (uris: readonly string[]): Promise<readonly Unsaved[]> => {
    const found = uris.map(async (uri): Promise<Unsaved | undefined> => {
      const path = files.pathOf(uri);
      const saved = path === undefined ? undefined : files.readText(path);
      if (path === undefined || saved === undefined) return undefined;
      const text = await readBuffer(editor, path);
      return text === undefined || text === toBufferText(saved)
        ? undefined
        : { uri, path, text: toFileText(text, saved) };
    });
    return (await Promise.all(found)).filter((one) => one !== undefined);
  };
  const toRef = (unsaved: Unsaved): string => {
    const ref = `${SCHEME}:buffer_${(buffers.size + 1).toString(36)}`;
    buffers.set(ref, Buffer.from(unsaved.text));
    return ref;
  };
  const saveAll = async (unsaved: readonly Unsaved[]): Promise<ToolResult | undefined> => {
    for (const { uri, path, text } of unsaved)
      if (!(await saveBuffer(editor, path, text)))
        return toFailure(
          "CONFLICT",
          `${uri} has unsaved changes in the editor; ask the person to save it, then read it again`,
        );
    return undefined;
  };

  return {
    ...tools,
    async execute(call, options) {
      const { kind, paths } = tools.outline(call);
      if (isRead(call)) {
        const result = await tools.execute(call, options);
        if (result.is_error) return result;
        const unsaved = await findUnsaved(paths);
        if (unsaved.length === 0) return result;
        const refs = new Map(unsaved.map((one) => [one.uri, toRef(one)]));
        const read = await tools.execute({ ...call, input: withRefs(call.input, refs) }, options);
        const names = [...refs].map(([uri, ref]) => `${uri} (${ref})`).join(", ");
        const note = `Unsaved in the editor, as the person sees it: ${names}\n`;
        return { ...read, content: [{ type: "text", text: note }, ...read.content] };
      }
      if (!EDITS.has(kind)) return tools.execute(call, options);
      return (await saveAll(await findUnsaved(paths))) ?? tools.execute(call, options);
    },
  };
}

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

interface Unsaved {
  /** As named in the call. */
  readonly uri: string;
  readonly path: string;
  readonly text: string;
}

const EDITS = new Set(["edit", "delete", "move"]);

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
