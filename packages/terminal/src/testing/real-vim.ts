import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One run of keys on a text. `cursor` counts UTF-16 units from 0. */
export type KeyCase = { text: string; cursor: [row: number, column: number]; keys: readonly string[] };
export type Outcome = { text: string; cursor: [row: number, column: number]; register: string };

/** Runs every case in one real Vim, each on a fresh buffer with an empty undo history and empty registers. */
export function runRealVim(cases: readonly KeyCase[]): Outcome[] {
  const folder = mkdtempSync(join(tmpdir(), "octant-vim-"));
  try {
    const [input, output, script] = ["in.json", "out.json", "run.vim"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(input, JSON.stringify(cases.map(toVim)));
    writeFileSync(script, SCRIPT);
    spawnSync("/usr/bin/vim", ["-u", "NONE", "-i", "NONE", "-N", "-n", "-es", "-S", script], {
      env: { ...process.env, CASES: input, RESULTS: output, TERM: "dumb", LC_ALL: "C.UTF-8" },
      stdio: "ignore",
      timeout: 120_000,
    });
    // A failing motion makes Vim exit with 1, so only the results count. The script below writes them.
    return (JSON.parse(readFileSync(output, "utf8")) as VimOutcome[]).map(fromVim);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type VimOutcome = { lines: string[]; row: number; byte: number; register: string };

const NAMED: Readonly<Record<string, string>> = {
  Escape: "\\<Esc>",
  Enter: "\\<CR>",
  Backspace: "\\<BS>",
  Delete: "\\<Del>",
  "Ctrl-R": "\\<C-r>",
  "Ctrl-W": "\\<C-w>",
  "Ctrl-U": "\\<C-u>",
  Left: "\\<Left>",
  Right: "\\<Right>",
  Up: "\\<Up>",
  Down: "\\<Down>",
  Home: "\\<Home>",
  End: "\\<End>",
  Tab: "\\<Tab>",
};

function toVim({ text, cursor: [row, column], keys }: KeyCase) {
  const lines = text.split("\n");
  const byte = Buffer.byteLength((lines[row] ?? "").slice(0, column)) + 1;
  const typed = keys
    .map((key) => NAMED[key] ?? key.replace(/["\\]/g, "\\$&").replace("<", "\\<lt>"))
    .join("");
  return { lines, row: row + 1, byte, keys: `"${typed}\\<Esc>"` };
}

function fromVim({ lines, row, byte, register }: VimOutcome): Outcome {
  const line = Buffer.from(lines[row - 1] ?? "");
  return {
    text: lines.join("\n"),
    cursor: [row - 1, line.subarray(0, byte - 1).toString().length],
    register,
  };
}

const SCRIPT = `
set encoding=utf-8 backspace=indent,eol,start nomore noswapfile belloff=all
let results = []
for c in json_decode(join(readfile($CASES), "\\n"))
  enew!
  set undolevels=-1
  call setline(1, c.lines)
  set undolevels=1000
  for name in split('abcdefghijklmnopqrstuvwxyz', '\\zs')
    call setreg(name, [])
  endfor
  call setreg('"', '')
  let @/ = ''
  call setcharsearch({'char': ''})
  call cursor(c.row, c.byte)
  silent! call feedkeys(eval(c.keys), 'tx')
  call add(results, {'lines': getline(1, '$'), 'row': line('.'), 'byte': col('.'), 'register': getreg('"')})
endfor
call writefile([json_encode(results)], $RESULTS)
qall!
`;
