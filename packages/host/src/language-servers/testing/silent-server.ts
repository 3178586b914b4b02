// A language server that answers as many requests as it is told to, the handshake among them, and then never again.
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
connection.listen();
