// Indexes files of a folder in a separate process, queries once, and prints the memory used:
// `node --conditions=built index-process.js ROOT FOLDER QUESTION < paths`. Plain JavaScript on the built packages, as
// users run it: stripping types alone takes 30 MB.
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { ParserPool, SearchEngine } from "@octant/search";

const [root, folder, question] = process.argv.slice(2);
const paths = await json(process.stdin);
const stateOf = (path) => {
  const { size, mtimeMs } = statSync(join(root, path));
  return { path, size, mtimeMs };
};
const files = {
  async *list() {
    for (const path of paths) yield stateOf(path);
  },
  read(path) {
    const text = readFileSync(join(root, path), "utf8");
    const hash = `sha256:${createHash("sha256").update(text).digest("hex")}`;
    return { text, state: { ...stateOf(path), hash } };
  },
  onChange: () => () => {},
};

const parsers = new ParserPool(3);
const engine = new SearchEngine({ files, folder, parsers, log: console.error });
const { chunks } = await engine.index({ signal: new AbortController().signal });
await engine.rank(question, { strategies: ["text", "vector"], limit: 10 });
const { rss } = process.memoryUsage();
const peak = process.resourceUsage().maxRSS * 1_024;
await engine.close();
await parsers.close();
console.log(JSON.stringify({ chunks, rss, peak }));
