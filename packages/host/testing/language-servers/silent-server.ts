// A language server that answers a given number of requests, including the handshake, and then never again.
import {
  createMessageConnection,
  ProgressType,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

let answersLeft = Number(process.argv[2]);
const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
const answer = async <T>(value: T): Promise<T> => (answersLeft-- > 0 ? value : new Promise<T>(() => {}));
const work = new ProgressType<object>();

connection.onRequest("initialize", () => answer({ capabilities: { definitionProvider: true } }));
connection.onRequest("textDocument/definition", async ({ textDocument: { uri } }) => {
  await connection.sendProgress(work, 1, { kind: "begin", title: "reading", percentage: 50 });
  await connection.sendProgress(work, 1, { kind: "end" });
  const start = { line: 0, character: 0 };
  return answer([{ uri, range: { start, end: start } }]);
});
// With "registers" it asks twice to be asked for diagnostics, as pyright does.
connection.onNotification("textDocument/didOpen", async () => {
  if (process.argv[3] !== "registers") return;
  for (const id of ["one", "two"])
    await connection.sendRequest("client/registerCapability", {
      registrations: [{ id, method: "textDocument/diagnostic" }],
    });
  await connection.sendProgress(work, 2, { kind: "begin", title: "registered" });
});
connection.onRequest("textDocument/diagnostic", () => answer({ items: [] }));
connection.listen();
