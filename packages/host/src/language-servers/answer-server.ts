import type { MessageConnection } from "vscode-jsonrpc/node";
import { type Path, pathToUri } from "../path.ts";
import type { DiagnosticsBoard } from "./diagnostics-board.ts";
import type { WorkList } from "./work-list.ts";

export interface Answering {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly registered: Map<string, string>;
  readonly work: WorkList;
  /** Why the server cannot load the project, by the token of its report. */
  readonly troubles: Map<string | number, string>;
  readonly diagnostics: DiagnosticsBoard;
  readonly root: Path;
  onWork(message: string): void;
  onRegistered(): void;
}

/** Answers the server's requests. We apply edits only when a caller has asked for them. */
export function answerServer(
  connection: MessageConnection,
  { settings, registered, work, troubles, diagnostics, root, onWork, onRegistered }: Answering,
) {
  connection.onRequest("workspace/configuration", ({ items }: { items: { section?: string }[] }) =>
    items.map(({ section }) => sectionOf(settings, section)),
  );
  connection.onRequest(
    "client/registerCapability",
    ({ registrations }: { registrations: Registration[] }) => {
      for (const { id, method } of registrations) registered.set(id, method);
      onRegistered();
      return null;
    },
  );
  connection.onRequest(
    "client/unregisterCapability",
    // The misspelling is the protocol's.
    ({ unregisterations = [] }: { unregisterations?: Registration[] }) => {
      for (const { id } of unregisterations) registered.delete(id);
      return null;
    },
  );
  connection.onRequest("window/workDoneProgress/create", () => null);
  connection.onRequest("window/showMessageRequest", () => null);
  connection.onRequest("window/showDocument", () => ({ success: false }));
  connection.onRequest("workspace/applyEdit", () => ({
    applied: false,
    failureReason: "edits are made on request",
  }));
  connection.onRequest("workspace/workspaceFolders", () => [{ uri: pathToUri(root), name: "workspace" }]);
  connection.onRequest("workspace/diagnostic/refresh", () => {
    diagnostics.forget();
    return null;
  });
  connection.onNotification("textDocument/publishDiagnostics", diagnostics.publish);
  connection.onNotification("$/progress", ({ token, value }: Progress) => {
    if (value?.kind === "begin" && value.title === GOPLS_TROUBLE) troubles.set(token, value.message ?? "");
    else if (value?.kind === "begin") work.begin(token);
    if (value?.kind === "end") {
      work.end(token);
      troubles.delete(token);
    }
    const message = value && toMessage(value);
    if (message) onWork(message);
  });
}

/** gopls reports it as progress that lasts as long as the project is broken. */
const GOPLS_TROUBLE = "Error loading workspace";

const toMessage = ({ title, message, percentage }: NonNullable<Progress["value"]>): string =>
  [title, message, percentage === undefined ? undefined : `${percentage} %`].filter(Boolean).join(" ");

interface Registration {
  readonly id: string;
  readonly method: string;
}

interface Progress {
  readonly token: string | number;
  readonly value?: {
    readonly kind?: string;
    readonly title?: string;
    readonly message?: string;
    readonly percentage?: number;
  };
}

/** `a.b` in the settings; null, as the protocol wants it, where nothing is set. */
function sectionOf(settings: unknown, section: string | undefined): unknown {
  let value = settings;
  for (const name of section?.split(".").filter(Boolean) ?? [])
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return value ?? null;
}
