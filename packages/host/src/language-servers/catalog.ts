import type { Path } from "../path.ts";
import { lacksCompileDatabase } from "./compile-database.ts";

/** Where a server's program may be. */
export type ProgramPlace =
  /** By its name in the folders of PATH. */
  | { readonly kind: "path"; readonly program: string }
  /** A module for Node, in the project's packages or in those that came with us. */
  | {
      readonly kind: "module";
      readonly from: "project" | "bundled";
      readonly package: string;
      readonly file: string;
    }
  /** The native program of TypeScript 7 or later. */
  | { readonly kind: "typescript"; readonly from: "project" | "bundled" };

export interface ServerRow {
  readonly name: string;
  readonly language: string;
  /** The first one that exists and answers is used. */
  readonly places: readonly ProgramPlace[];
  readonly args: readonly string[];
  /** Asked for a version before it counts as working: a name on PATH may lead to nothing. */
  readonly probe: readonly string[];
  /** Programs that it starts itself. */
  readonly needs?: readonly string[];
  /** Only for projects whose own TypeScript is older than 7. */
  readonly onlyOldTypeScript?: true;
  /** Wherever it is installed, it runs code of the project: a compiler, an interpreter, build scripts, plug-ins. */
  readonly runsProject?: true;
  readonly initializationOptions?: unknown;
  /** The answers to its configuration requests, by section. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Logged once it has listed the files of the project; until then it knows only those that are open. */
  readonly listed?: RegExp;
  /** The project's missing part without which it cannot understand this file, and how to get it. */
  lacks?(path: Path, root: Path): string | undefined;
  /** How to get it, as a part of a sentence. */
  readonly install: string;
}

/** A TypeScript server would otherwise run npm to download type declarations, and count as loading meanwhile. */
const NO_TYPE_DOWNLOADS = {
  disableAutomaticTypeAcquisition: true,
  tsserver: { automaticTypeAcquisition: { enabled: false } },
};
const PYRIGHT_ANALYSIS = {
  autoSearchPaths: true,
  useLibraryCodeForTypes: true,
  diagnosticMode: "openFilesOnly",
} as const;

/** Pyright reports no progress for this, only a line in its log. */
const PYRIGHT_LISTED = /^(?:Found \d+ source files?|No source files found\.?)$/;

/** Every server that is known by itself, the better one of a language first. */
export const SERVERS: readonly ServerRow[] = [
  {
    name: "typescript-language-server",
    language: "typescript",
    onlyOldTypeScript: true,
    // The project's own compiler.
    runsProject: true,
    places: [
      { kind: "path", program: "typescript-language-server" },
      { kind: "module", from: "project", package: "typescript-language-server", file: "lib/cli.mjs" },
      { kind: "module", from: "bundled", package: "typescript-language-server", file: "lib/cli.mjs" },
    ],
    args: ["--stdio"],
    probe: ["--version"],
    // With its syntax server, definitions are answered with the import itself.
    initializationOptions: {
      disableAutomaticTypingAcquisition: true,
      tsserver: { useSyntaxServer: "never" },
    },
    install: "npm install --save-dev typescript-language-server",
  },
  {
    name: "typescript",
    language: "typescript",
    places: [
      { kind: "typescript", from: "project" },
      { kind: "typescript", from: "bundled" },
    ],
    args: ["--lsp", "--stdio"],
    probe: ["--version"],
    settings: { typescript: NO_TYPE_DOWNLOADS, javascript: NO_TYPE_DOWNLOADS, "js/ts": NO_TYPE_DOWNLOADS },
    install: "npm install --save-dev typescript@7",
  },
  {
    // Before the bundled pyright: a person who installed this one has chosen it.
    name: "basedpyright",
    language: "python",
    // The interpreter in `.venv`.
    runsProject: true,
    places: [
      { kind: "path", program: "basedpyright-langserver" },
      { kind: "module", from: "project", package: "basedpyright", file: "langserver.index.js" },
    ],
    args: ["--stdio"],
    probe: [],
    settings: { basedpyright: { analysis: PYRIGHT_ANALYSIS } },
    listed: PYRIGHT_LISTED,
    install: "npm install --save-dev basedpyright, or pip install basedpyright",
  },
  {
    name: "pyright",
    language: "python",
    places: [
      { kind: "path", program: "pyright-langserver" },
      { kind: "module", from: "project", package: "pyright", file: "langserver.index.js" },
      { kind: "module", from: "bundled", package: "pyright", file: "langserver.index.js" },
    ],
    args: ["--stdio"],
    probe: [],
    settings: { python: { analysis: PYRIGHT_ANALYSIS } },
    listed: PYRIGHT_LISTED,
    install: "npm install --save-dev pyright, or pip install pyright",
  },
  {
    name: "gopls",
    language: "go",
    places: [{ kind: "path", program: "gopls" }],
    args: [],
    probe: ["version"],
    needs: ["go"],
    install:
      "install Go and gopls (go install golang.org/x/tools/gopls@latest, or apt install golang-go gopls)",
  },
  {
    name: "rust-analyzer",
    language: "rust",
    // Build scripts and procedural macros.
    runsProject: true,
    places: [{ kind: "path", program: "rust-analyzer" }],
    args: [],
    probe: ["--version"],
    install: "rustup component add rust-analyzer",
  },
  {
    name: "clangd",
    language: "cpp",
    places: [{ kind: "path", program: "clangd" }],
    args: ["--background-index", "--log=error"],
    probe: ["--version"],
    lacks: lacksCompileDatabase,
    install: "install clangd (apt install clangd), and let the build write compile_commands.json",
  },
  {
    name: "jdtls",
    language: "java",
    // Gradle's wrapper and build files.
    runsProject: true,
    places: [{ kind: "path", program: "jdtls" }],
    args: [],
    probe: ["--help"],
    needs: ["java"],
    install: "install the Eclipse JDT language server as `jdtls`",
  },
];
