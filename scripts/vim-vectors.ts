import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeyCase, runRealVim } from "../packages/terminal/src/testing/real-vim.ts";

/** Writes vectors/vim-keys.json: the behaviour of the real Vim for every key of the input's vim mode. */
const PLACES: readonly (readonly [name: string, text: string, row: number, column: number])[] = [
  ["prose", "foo bar baz", 0, 5],
  ["call", "  hello, world(a, b) ", 0, 16],
  ["lines", "one\ntwo three\n  four\n\nfive six", 1, 4],
  ["sentences", "One two. Three four!  Is it? Yes.\nNext goes on\nhere. Last\n\nNew one. End", 0, 10],
  ["block", 'if (a) {\n  b("x y", [d, e]);\n  f;\n}\nend', 1, 7],
];

const MOTIONS = [..."hjklwbeWBE0$^G;,", "gg", "2w", "2j", "3l", "fa", "t ", "Fo", "Ta"];
const OBJECTS = ["iw", "iW", 'i"', 'a"', "i(", "a(", "ib", "i[", "a[", "i{", "a{", "ip", "ap"];

/** Keys in Vim's own spelling. */
const FURTHER = `
  % d% y%P c%X<Esc> 50% v%d >> << 3>> 2<< >j <j >} V> Vj> >>. >>u V2> >ip
  guw gUw g~w guu gUU g~~ gugu gUgU g~g~ guiw gUaw gU$ guj gUk g~G gUip guis 2gUw vegU vjgu Vg~ gU2w. gUwu
  gJ 3gJ 9gJ VjgJ gJ. RXY<Esc> Rabc<Esc>. 3Rx<Esc> RX<BS><Esc> RXY<BS><BS><Esc> RX<CR>Y<Esc> RX<Esc>u
  Rlonger-than-the-whole-line<Esc> ge gE 2ge 3gE dge cgeX<Esc> yge vged
  } { 2} 2{ d} d{ y}P c}X<Esc> v}d V{d _ 2_ d_ d2_ y_p c_X<Esc> v_d g_ 2g_ dg_ + - 2+ d+ d-
  ) ( 2) 2( d) d( y)P c)X<Esc> dis das yisP yasP cisX<Esc> d2is d2as visd vasd visgU
  majjx'ax majjx\`ax maj0d'a majd\`a maGy'ap jmakdd'ax jmakO<Esc>'ax majdd'ax Gx''x Gx\`\`x }\`\`x maG'a''x madd'ax
  d'q 'qx \`qx ztx zzx ZaZx gzx "!x gqx gwx g?x mxix<Esc>\`xx
  /e<CR>x ?e<CR>x /e<CR>nx /e<CR>Nx d/e<CR> v/e<CR>d /zzz<CR>x c?e<CR>X<Esc>
`;
const NAMES: Readonly<Record<string, string>> = { Esc: "Escape", CR: "Enter", BS: "Backspace" };
const toKeys = (text: string) =>
  [...text.matchAll(/<(Esc|CR|BS)>|(.)/g)].map(([, named, key]) => NAMES[named ?? ""] ?? key ?? "");
const typed = (text: string) => [...text, "Escape"];

const COMMANDS: readonly (readonly string[])[] = [
  ...MOTIONS.map((motion) => [...motion]),
  ...MOTIONS.flatMap((motion) => [
    [..."d", ...motion],
    ["c", ...motion, ...typed("new")],
    ["y", ...motion, "P"],
  ]),
  ...OBJECTS.flatMap((object) => [
    ["d", ...object],
    ["c", ...object, ...typed("Z")],
    ["v", ...object, "d"],
  ]),
  ...["dd", "x", "X", "D", "J", "~", "rz", "2dd", "3x", "2~", "ddp", "yyp", "yyP", "xp"].map((keys) => [
    ...keys,
  ]),
  ...["cc", "C", "s", "S", "i", "a", "I", "A", "o", "O", "3i", "2A", "2o"].map((keys) => [
    ...keys,
    ...typed("ab"),
  ]),
  ["x", "u"],
  ["d", "w", "u"],
  ["x", "u", "Ctrl-R"],
  ["A", ...typed("!"), "u"],
  ["d", "w", "."],
  ["A", ...typed("!"), "j", "."],
  ["c", "w", ...typed("n"), "w", "."],
  ["x", "3", "."],
  ['"', "a", "y", "w", "d", "d", '"', "a", "P"],
  ['"', "_", "d", "w", "P"],
  ...["d", "y", "~", "U", "u", "J", "rq"].flatMap((verb) => [
    ["v", "e", ...verb],
    ["V", "j", ...verb],
  ]),
  ["v", "l", "o", "h", "d"],
  ["y", "w", "v", "e", "p"],
  ["v", "j", "c", ...typed("Q")],
  ["i", "a", "Enter", "b", "Escape"],
  ["i", "a", "b", "Backspace", "Backspace", "Backspace", "Escape"],
  ["A", "Ctrl-W", "Escape"],
  ["A", "Ctrl-U", "Escape"],
  ["f", "o", ";", ","],
  ...FURTHER.trim().split(/\s+/).map(toKeys),
];

/** Vim's behaviour that the input does not follow: find commands without an earlier one to repeat. */
const UNSUPPORTED = /^(d|c|y)?[;,]/;

/** Empty lines and ends of the text, where sentences and paragraphs are special. */
const GAPS: typeof PLACES = [
  ["prose 0", "One two. Three.\n\nFour five. Six.", 0, 2],
  ["prose 1", "One two. Three.\n\nFour five. Six.", 1, 0],
  ["gap 0", "a b\n\n\nc d. e", 0, 2],
  ["gap 1", "a b\n\n\nc d. e", 1, 0],
  ["gap 2", "a b\n\n\nc d. e", 2, 0],
  ["first gap", "\nfirst. second.\n\n", 0, 0],
  ["last gap", "\nfirst. second.\n\n", 3, 0],
  ["last words", "  lead. two!  x? y", 0, 16],
];
const IN_GAPS = `
  | 3| 99| d3| d99| 3|j v4|d c2|X<Esc> 4|ix<Esc> ) ( 2) dis das d) qaxq @a zzx
  d2is d2as d3is d3as visd vasd v2isd v2asd visy vasy visU vasU visisd vasasd vlisd vlasd vhisd vhasd vipd vapd
`;

const casesOf = (places: typeof PLACES, commands: readonly (readonly string[])[]) =>
  places.flatMap(([name, text, row, column]) =>
    commands.map((keys) => ({
      id: `${name}: ${keys.join(" ")}`,
      text,
      cursor: [row, column] as KeyCase["cursor"],
      keys,
    })),
  );
const cases = [
  ...casesOf(
    PLACES,
    COMMANDS.filter((keys) => !UNSUPPORTED.test(keys.join(""))),
  ),
  ...casesOf(GAPS, IN_GAPS.trim().split(/\s+/).map(toKeys)),
];
const outcomes = runRealVim(cases);
const written = cases.map((one, i) => ({
  ...one,
  expect: { text: outcomes[i]?.text, cursor: outcomes[i]?.cursor },
}));
const about =
  "Keys typed in normal mode, and the text and cursor that Vim 9 leaves after a final Escape. Columns count UTF-16 units. Made by scripts/vim-vectors.ts.";
const lines = written.map((one) => `    ${JSON.stringify(one)}`).join(",\n");
writeFileSync(
  join(import.meta.dirname, "..", "vectors", "vim-keys.json"),
  `{\n  "about": ${JSON.stringify(about)},\n  "cases": [\n${lines}\n  ]\n}\n`,
);
