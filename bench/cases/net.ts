import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Bench, type Case, expectEqual, rememberAnswer, toData } from "../case.ts";
import { toCallLine } from "../json-rpc.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const BODY_BYTES = 1024;
const NAME = "request 1 KB";
const NOTE = "floor: a bare fetch of the same page from loopback, its connection used again";

export const net: readonly Case[] = [{ name: NAME, run: requestPage }];

async function requestPage({ octant, noOp, effort, random }: Bench): Promise<Row> {
  using site = await startSite();
  const call = { action: "request", url: site.url };
  const first = await octant.exchange(toCallLine("net", call));
  expectEqual((toData(first, NAME) as { text: string }).text.length, BODY_BYTES, "bytes of the page");
  await rememberAnswer(noOp, first);
  const spreads = await interleave(
    {
      octant: () => timed(() => octant.exchange(toCallLine("net", call))),
      noOp: () => timed(() => noOp.exchange(toCallLine("no_op", call))),
      direct: () => timed(async () => (await fetch(site.url)).text()),
    },
    effort,
    random,
  );
  const figure = spreads.octant.p50 / (spreads.direct.p50 + spreads.noOp.p50);
  return { name: NAME, unit: "ms", ...spreads, figure, bar: atMost(2), note: NOTE };
}

/** A separate process: neither side may share its event loop with the server. */
async function startSite(): Promise<Disposable & { readonly url: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SITE], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { url: String((await lines.next()).value), [Symbol.dispose]: () => child.stdin.end() };
}

const SITE = `
  import { createServer } from "node:http";
  const body = "x".repeat(${BODY_BYTES});
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": body.length });
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port + "/"));
  process.stdin.resume().on("end", () => process.exit());
`;
