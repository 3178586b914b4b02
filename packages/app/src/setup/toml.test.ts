import fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigProblem } from "./config-format.ts";
import { toml } from "./toml.ts";

const PATH = ["mcp_servers", "octant"];
const FIELDS = { command: "C:\\node.exe", args: ["octant.js", "serve"] };
const TABLE = '[mcp_servers.octant]\ncommand = "C:\\\\node.exe"\nargs = ["octant.js", "serve"]\n';

test.each([
  ["a file that is not there yet", "", TABLE],
  [
    "a file with other tables",
    'model = "x" # mine\n\n[a]\nb = 1\n',
    `model = "x" # mine\n\n[a]\nb = 1\n\n${TABLE}`,
  ],
  ["a file without a last line end", "a = 1", `a = 1\n\n${TABLE}`],
  [
    "an old entry with fields of the person",
    '[mcp_servers.octant] # mine\nargs = [\n  "old", # why\n] # these\nstartup_timeout_sec = 20\n\n[mcp_servers.octant.env]\nA = "1"\n# end\n[z]\n',
    '[mcp_servers.octant] # mine\nargs = ["octant.js", "serve"] # these\nstartup_timeout_sec = 20\ncommand = "C:\\\\node.exe"\n\n[mcp_servers.octant.env]\nA = "1"\n# end\n[z]\n',
  ],
  [
    "a table that is written with quotes",
    '["mcp_servers" . octant]\ncommand = \'C:\\node.exe\'\nargs = ["""\noctant.js""", "serve",]\n',
    '["mcp_servers" . octant]\ncommand = \'C:\\node.exe\'\nargs = ["""\noctant.js""", "serve",]\n',
  ],
])("an entry is put into %s", (_, before, after) => {
  expect(toml.set(before, PATH, FIELDS)).toBe(after);
  expect(toml.set(after, PATH, FIELDS)).toBe(after);
  expect(toml.read(after, PATH)).toMatchObject(FIELDS);
});

test("an entry is removed with everything below it, and the surrounding comments stay", () => {
  const before = `# first\n[a]\nb = 1\n\n# about octant\n${TABLE}\n# about z\n[z]\n\n[mcp_servers.octant.env]\nA = "1"\n`;
  expect(toml.remove(before, PATH)).toBe("# first\n[a]\nb = 1\n\n# about octant\n\n# about z\n[z]\n");
});

test.each([
  ["a = ", 1, 5],
  ["a = 1\nb = [1,\n", 3, 1],
  ['[x]\na = "open\n', 2, 10],
  ["a = 1 b = 2", 1, 7],
  ["[a]\n[a]\n", 2, 2],
  ["a = 1\na = 2\n", 2, 1],
  ['mcp_servers = { octant = { command = "x" } }', 1, 1],
  ['[mcp_servers]\noctant = { command = "x" }\n', 2, 1],
  ['[mcp_servers]\noctant.command = "x"\n', 2, 1],
  ["[[mcp_servers.octant]]\n", 1, 1],
])("%j is refused with the place", (text, line, column) => {
  expect(() => toml.set(text, PATH, FIELDS)).toThrow(ConfigProblem);
  expect(() => toml.set(text, PATH, FIELDS)).toThrow(expect.objectContaining({ line, column }));
});

test("an entry is read in every notation", () => {
  expect(toml.read('[mcp_servers]\noctant = { command = "x", args = [] }', PATH)).toEqual({
    command: "x",
    args: [],
  });
  expect(toml.read('mcp_servers.octant.command = """a\\\n   b\\u0041"""', PATH)).toEqual({ command: "abA" });
  expect(toml.read("[mcp_servers.other]\n", PATH)).toBeUndefined();
});

const statements = fc.constantFrom(
  "",
  "# remark",
  'k1 = "a # b"',
  "k2 = 'c:\\x'",
  'k3 = """\n[mcp_servers.octant]\n"""',
  'k4 = [ 1, # one\n  2.5e3, ["x"],\n]',
  "k5 = { a = 1, b.c = true }",
  "k6 = 1979-05-27 07:32:00Z",
  "k7 = -inf",
  "k8 = 0xff_ff",
  "k9 = '''it''s'''",
);
const documents = fc
  .tuple(
    fc.uniqueArray(statements),
    fc.uniqueArray(fc.constantFrom("[a]", "[mcp_servers.b]", "[ mcp_servers . 'c d' ]", "[[list]]")),
    fc.uniqueArray(statements),
    fc.constantFrom("\n", "\r\n"),
  )
  .map(([head, tables, body, newLine]) =>
    [...head, ...tables.flatMap((table) => [table, ...body]), ""].join("\n").replaceAll("\n", newLine),
  );

test("adding and removing an entry preserves every byte of the rest of the file", () => {
  fc.assert(
    fc.property(documents, (before) => {
      const after = toml.set(before, PATH, FIELDS);
      expect(after.startsWith(before)).toBe(true);
      expect(toml.read(after, PATH)).toEqual(FIELDS);
      const gone = toml.remove(after, PATH);
      expect(gone.trimEnd()).toBe(before.trimEnd());
    }),
  );
});
