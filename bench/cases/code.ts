import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { type Bench, type Case, expectEqual, rememberAnswer, toData, type WorkTree } from "../case.ts";
import { toCallLine } from "../json-rpc.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const MODULES = 200;
const NAME = "code.definition warm";
/** `mid` in the second line of user.ts. */
const AT = { line: 1, character: 23 };

export const code: readonly Case[] = [{ name: NAME, run: definition }];

/** The same question to our warm server, and directly to one of the same kind. */
async function definition({ tree, octant, noOp, effort, random }: Bench): Promise<Row> {
  const file = growProject(tree);
  await using server = await startTypeScript(tree.root, file);
  const position = { line: AT.line, col: AT.character };
  const line = toCallLine("code", { action: "definition", uri: file, position });
  const first = await octant.exchange(line);
  const { results } = toData(first, NAME) as { results: unknown[] };
  expectEqual(results.length, 1, "definitions");
  await rememberAnswer(noOp, first);
  const spreads = await interleave(
    {
      octant: () => timed(() => octant.exchange(line)),
      noOp: () => timed(() => noOp.exchange(toCallLine("no_op", { uri: file, position }))),
      direct: () => timed(server.define),
    },
    effort,
    random,
  );
  const figure = spreads.octant.p50 / (spreads.direct.p50 + spreads.noOp.p50);
  const note = `floor: TypeScript's own answer over its pipe; ${MODULES} modules`;
  return { name: NAME, unit: "ms", ...spreads, figure, bar: atMost(1.5), note };
}

/** Modules that import each other, with TypeScript among the packages of the tree. Returns the queried file. */
function growProject({ root, scratchFolder }: WorkTree): string {
  const folder = join(root, scratchFolder);
  const packages = join(root, "node_modules");
  const { typescript, native } = locateTypeScript();
  mkdirSync(join(packages, "@typescript"), { recursive: true });
  link(dirname(typescript), join(packages, "typescript"));
  link(
    dirname(native),
    join(
      packages,
      native
        .split("/node_modules/")
        .at(-1)!
        .replace(/\/package\.json$/, ""),
    ),
  );
  writeFileSync(join(folder, "tsconfig.json"), '{ "compilerOptions": { "strict": true, "types": [] } }');
  for (let n = 0; n < MODULES; n++) {
    const uses = n === 0 ? "" : `import { value${n - 1} } from "./m${n - 1}";\n`;
    const value = n === 0 ? "0" : `value${n - 1} + 1`;
    writeFileSync(join(folder, `m${n}.ts`), `${uses}export const value${n}: number = ${value};\n`);
  }
  const file = join(folder, "user.ts");
  const middle = MODULES >> 1;
  writeFileSync(
    file,
    `import { value${middle} as mid } from "./m${middle}";\nexport const doubled = mid * 2;\n`,
  );
  return file;
}

function locateTypeScript() {
  const typescript = realpathSync(createRequire(import.meta.url).resolve("typescript/package.json"));
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  return { typescript, native: createRequire(typescript).resolve(name) };
}

/** A later sitting finds it already there. */
function link(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause;
  }
}

async function startTypeScript(root: string, file: string) {
  const program = join(dirname(locateTypeScript().native), "lib", "tsc");
  const child = spawn(program, ["--lsp", "--stdio"], { cwd: root, stdio: ["pipe", "pipe", "ignore"] });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  const uri = pathToFileURL(file).href;
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: {},
  });
  await connection.sendNotification("initialized", {});
  const textDocument = { uri, languageId: "typescript", version: 1, text: readFileSync(file, "utf8") };
  await connection.sendNotification("textDocument/didOpen", { textDocument });
  return {
    define: () => connection.sendRequest("textDocument/definition", { textDocument: { uri }, position: AT }),
    async [Symbol.asyncDispose]() {
      connection.dispose();
      child.kill("SIGKILL");
    },
  };
}
