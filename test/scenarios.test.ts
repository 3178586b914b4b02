import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createPerson, type Person } from "./front-door.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const packageFolder = (name: string) =>
  dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** A third-party project, copied from a package manager's folder. */
interface Project {
  readonly name: string;
  readonly language: string;
  /** undefined when this machine lacks it. */
  source(): string | undefined;
  /** Programs required to work on it. */
  readonly needs: readonly (readonly [string, ...string[]])[];
  /** Adds what a person would have installed or written besides the sources. */
  prepare(root: string): void;
  /** A question in words, and the file that answers it. */
  readonly question: string;
  readonly answeredBy: string;
  /** Named by the symbol's id; used in these files. */
  readonly symbol: { readonly id: string; readonly name: string; readonly usedIn: readonly string[] };
  readonly newName: string;
  readonly tests: { readonly runner: string; readonly filter?: string };
  readonly comment: string;
}

/** Links packages of this repository into the project, like an install. */
function linkPackages(root: string, names: readonly string[]): void {
  const bin = join(root, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  for (const name of names) {
    symlinkSync(packageFolder(name), join(root, "node_modules", name));
    const program = join(REPOSITORY, "node_modules/.bin", name);
    if (existsSync(program)) symlinkSync(realpathSync(program), join(bin, name));
  }
}

const run = (program: string, ...args: string[]): string | undefined => {
  try {
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
};

const PROJECTS: readonly Project[] = [
  {
    name: "json-schema-traverse, from npm",
    language: "javascript",
    source: () => packageFolder("json-schema-traverse"),
    needs: [["npm", "--version"]],
    prepare: (root) => linkPackages(root, ["mocha"]),
    question: "escapeJsonPtr",
    answeredBy: "index.js",
    symbol: { id: "sym:index.js#escapeJsonPtr", name: "escapeJsonPtr", usedIn: ["index.js"] },
    newName: "toPointerPart",
    tests: { runner: "mocha" },
    comment: "// edited\n",
  },
  {
    name: "gyp, which comes with npm",
    language: "python",
    source() {
      const npm = run("sh", "-c", 'realpath "$(command -v npm)"');
      const folder = npm && join(dirname(npm), "../node_modules/node-gyp/gyp");
      return folder && existsSync(folder) ? folder : undefined;
    },
    needs: [["python3", "-m", "pytest", "--version"]],
    prepare: (root) => linkPackages(root, ["pyright"]),
    question: "XmlToString",
    answeredBy: "pylib/gyp/easy_xml.py",
    symbol: {
      id: "sym:pylib/gyp/easy_xml.py#XmlToString",
      name: "XmlToString",
      usedIn: ["easy_xml.py", "easy_xml_test.py"],
    },
    newName: "to_xml_text",
    tests: { runner: "pytest", filter: "pylib/gyp/easy_xml_test.py" },
    comment: "# edited\n",
  },
  {
    name: "encoding/csv of Go, from Debian",
    language: "go",
    source() {
      const folder = run("go", "env", "GOROOT");
      return folder && join(folder, "src/encoding/csv");
    },
    needs: [
      ["go", "version"],
      ["gopls", "version"],
    ],
    prepare: (root) => writeFileSync(join(root, "go.mod"), "module example.com/csv\n\ngo 1.19\n"),
    question: "fieldNeedsQuotes",
    answeredBy: "writer.go",
    symbol: {
      id: "sym:writer.go#Writer.fieldNeedsQuotes",
      name: "fieldNeedsQuotes",
      usedIn: ["writer.go"],
    },
    newName: "needsQuotes",
    tests: { runner: "go test" },
    comment: "// edited\n",
  },
];

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd });

function layOut(project: Project, person: Person): string {
  const root = join(person.folder, project.language);
  cpSync(project.source()!, root, { recursive: true, dereference: true });
  project.prepare(root);
  writeFileSync(join(root, ".gitignore"), "node_modules\n__pycache__\n.pytest_cache\n");
  git(root, "init", "-q");
  git(root, "config", "user.name", "A Person");
  git(root, "config", "user.email", "person@example.com");
  git(root, "add", ".");
  git(root, "commit", "-qm", "as it came");
  return root;
}

const isHere = ({ needs, source }: Project): boolean =>
  needs.every(([program, ...args]) => run(program, ...args) !== undefined) && source() !== undefined;

describe.each(PROJECTS)("$name", (project) => {
  // In CI every part is installed, and a missing one is a failure.
  const scenario = test.skipIf(!process.env["CI"] && !isHere(project));
  const { symbol, answeredBy } = project;
  const open = async () => {
    const person = await createPerson();
    const server = await person.serve(layOut(project, person));
    return {
      ...server,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await person[Symbol.asyncDispose]();
      },
    };
  };

  scenario("search.query as the first call finds the definition", async () => {
    await using server = await open();
    const { ok, data } = await server.call("search.query", { query: project.question });
    expect(ok).toBe(true);
    expect(data.hits[0]?.uri).toBe(`file://${server.root}/${answeredBy}`);
  });

  scenario("code.search_symbol as the first call finds the definition", async () => {
    await using server = await open();
    const { data } = await server.call("code.search_symbol", { query: symbol.name });
    expect(data.results[0]?.symbol_id).toBe(symbol.id);
  });

  scenario(
    "a person renames first, then detects, edits, tests, compares, commits and runs a command",
    async () => {
      await using server = await open();
      const input = { symbol_id: symbol.id, new_name: project.newName };
      const renamed = await server.call("code.rename", input);
      expect(renamed.error).toBeNull();
      const changed: string[] = renamed.data.files.map(({ uri }: { uri: string }) => uri);
      expect(changed.map((uri) => basename(uri))).toEqual(expect.arrayContaining([...symbol.usedIn]));

      const detected = await server.call("ws.detect");
      expect(detected.data.languages[0].name.toLowerCase()).toBe(project.language);

      const read = await server.call("fs.read", { uri: answeredBy });
      const edited = await server.call("fs.apply_patch", {
        uri: answeredBy,
        base_hash: read.data.hash,
        patch: [{ op: "insert", line: 0, text: project.comment }],
      });
      expect(edited.error).toBeNull();

      const { runner, filter } = project.tests;
      const tested = await server.call("test.run", { suite: runner, ...(filter && { filter }) });
      expect(tested.data).toMatchObject({ status: "passed", fail: 0, suites: [{ runner }] });
      expect(tested.data.pass).toBeGreaterThan(0);

      const difference = await server.call("vcs.diff");
      expect(difference.data.patch).toContain(`+${project.comment}`);
      const committed = await server.call("vcs.commit", { message: "edit", files: [answeredBy, ...changed] });
      expect(committed.error).toBeNull();
      expect((await server.call("vcs.status")).data).toMatchObject({ clean: true, entries: [] });

      const command = "until [ -e signal ]; do sleep 0.05; done; echo finished";
      const long = await server.ask("proc.exec", { command, wait: 100 });
      expect(long.data.status).toBe("running");
      await server.call("fs.write", { uri: "signal", content: "" });
      const ended = await server.result(long.meta.job_id!);
      expect(ended.data).toMatchObject({ status: "exited", exit_code: 0, stdout: "finished\n" });
    },
  );
});
