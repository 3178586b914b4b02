/**
 * How a program is called when it only reads. Words that are not listed make the call ask, so an option that a newer
 * version adds is safe. `short` is written as for getopt: `n:` takes a value, `U?` an attached one or none. In `long`,
 * `lines=` takes a value and `color=?` an attached one or none.
 */
export interface HarmlessUse {
  readonly short?: string;
  readonly long?: string;
  /** Options such as `-name` that are one word with one dash, as of find; marked as in `long`. */
  readonly words?: string;
  /** `-20` is a number of lines. */
  readonly digits?: true;
  /**
   * paths: those that exist have to be in the project; inside: all of them, as a missing one means something else to it;
   * data: any text; default none.
   */
  readonly operands?: "paths" | "inside" | "data";
  readonly maxOperands?: number;
  /** The first operand has to be like this. */
  readonly script?: RegExp;
  /** By the word after the program. */
  readonly sub?: Readonly<Record<string, HarmlessUse>>;
  /** Without one of the words in `sub` it may do more than read. */
  readonly needsSub?: true;
  /** Options before that word: those that change nothing, and the one that names the folder to work in. */
  readonly before?: { readonly flags: readonly string[]; readonly folder: string };
}

const files = (short: string, long = ""): HarmlessUse => ({ short, long, operands: "paths" });
const ONLY: HarmlessUse = {};
/** Alone: a word beside it may be a file that is run, and so may any other word, such as `version`. */
const version = (...words: readonly string[]): HarmlessUse => ({
  sub: Object.fromEntries(words.map((word) => [word, ONLY])),
  needsSub: true,
});
const SUMS = files("bctwz", "binary check tag text zero ignore-missing quiet status strict warn");

const GREP = files(
  "EFGPiyvwxcLlqsobHhnTUZrRaIe:m:A:B:C:d:D:",
  `extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp
  count color=? colour=? files-without-match files-with-matches quiet silent no-messages only-matching byte-offset
  with-filename no-filename line-number initial-tab null text recursive dereference-recursive regexp= max-count=
  after-context= before-context= context= include= exclude= exclude-dir= binary-files= directories=`,
);

const RG = files(
  ".0ivwxclLnNoqsSuFUPHIhpae:m:A:B:C:g:t:T:r:j:d:M:E:",
  `ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches files-with-matches
  files-without-match line-number no-line-number only-matching quiet no-messages unrestricted fixed-strings multiline
  multiline-dotall pcre2 with-filename no-filename heading no-heading pretty text hidden no-ignore no-ignore-vcs
  no-config follow files type-list stats json vimgrep column byte-offset trim null sort= sortr= regexp= max-count=
  after-context= before-context= context= glob= iglob= type= type-not= replace= threads= max-depth= max-columns=
  max-filesize= encoding= color= colors= context-separator= passthru max-columns-preview one-file-system version`,
);

const FIND: HarmlessUse = {
  short: "LPH",
  words: `name= iname= path= ipath= wholename= iwholename= regex= iregex= type= xtype= maxdepth= mindepth= size= mtime= mmin=
  ctime= cmin= atime= amin= newer= anewer= cnewer= empty prune not o or a and print print0 printf= ls quit perm= user=
  group= nouser nogroup xdev mount depth readable writable executable links= inum= samefile= true false daystart
  noleaf regextype= lname= ilname= follow`,
  operands: "paths",
};

/** Options of git commands that show commits or differences. None of them writes, runs a driver or opens a pager. */
const SHOWS_SHORT = "pubwazRsM?C?D?U?S:G:n:L:iEFPgctr";
const SHOWS_LONG = `patch no-patch raw stat=? numstat shortstat dirstat=? summary name-only name-status color=? no-color
  word-diff=? color-words=? word-diff-regex= unified= minimal patience histogram diff-algorithm= no-renames find-renames=?
  find-copies=? find-copies-harder diff-filter= pickaxe-all pickaxe-regex ignore-space-at-eol ignore-space-change
  ignore-all-space ignore-blank-lines function-context check full-index binary abbrev=? no-abbrev abbrev-commit
  no-abbrev-commit relative=? no-relative text exit-code quiet no-ext-diff no-textconv ignore-submodules=? submodule=?
  src-prefix= dst-prefix= no-prefix default-prefix inter-hunk-context= indent-heuristic compact-summary cc
  cached staged merge-base oneline graph all branches=? tags=? remotes=? not format= pretty=? date= relative-date
  decorate=? no-decorate decorate-refs= decorate-refs-exclude= source max-count= skip= since= after= until= before=
  author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp merges
  no-merges first-parent reverse follow left-right cherry-pick cherry-mark left-only right-only cherry boundary
  topo-order date-order author-date-order simplify-by-decoration full-history ancestry-path=? show-signature
  no-walk=? expand-tabs=? no-expand-tabs encoding= notes=? no-notes walk-reflogs root diff-merges= no-diff-merges
  full-diff log-size parents children count`;
const SHOWS: HarmlessUse = { short: SHOWS_SHORT, long: SHOWS_LONG, digits: true, operands: "paths" };
const LISTS_REFS =
  "contains=? no-contains=? merged=? no-merged=? sort= format= points-at= column=? no-column color=? ignore-case";

const GIT: HarmlessUse = {
  before: { flags: ["--no-pager", "--no-optional-locks"], folder: "-C" },
  sub: {
    "--version": ONLY,
    version: ONLY,
    status: files(
      "sbvuz",
      "short branch show-stash porcelain=? long verbose untracked-files=? ignore-submodules=? ignored=? column=? no-column ahead-behind no-ahead-behind renames no-renames find-renames=?",
    ),
    log: SHOWS,
    show: SHOWS,
    diff: SHOWS,
    shortlog: { ...SHOWS, short: "nsecw?", long: `${SHOWS_LONG} numbered summary email group=` },
    blame: {
      short: "bltfnsewcM?C?L:",
      long: "root porcelain line-porcelain incremental show-stats abbrev= date= show-name show-number show-email color-lines color-by-age ignore-rev= since= reverse first-parent",
      operands: "paths",
    },
    grep: {
      short: "EFGPivwlLcnHhopqWzIre:f:A:B:C:",
      long: "cached untracked no-index extended-regexp fixed-strings basic-regexp perl-regexp ignore-case invert-match word-regexp files-with-matches name-only files-without-match count line-number column only-matching quiet heading break color=? no-color show-function function-context and or not all-match text recursive no-recursive max-depth= max-count= after-context= before-context= context= exclude-standard no-exclude-standard full-name",
      operands: "paths",
    },
    "ls-files": files(
      "cdmoistuvzkfx:",
      "cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol deduplicate exclude= exclude-standard error-unmatch full-name abbrev=? recurse-submodules debug",
    ),
    "ls-tree": files("drtlz", "long name-only name-status object-only full-name full-tree abbrev=? format="),
    "rev-parse": files(
      "q",
      "verify quiet short=? abbrev-ref=? symbolic symbolic-full-name all branches=? tags=? remotes=? show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-object-format git-path=",
    ),
    "rev-list": {
      ...SHOWS,
      long: `${SHOWS_LONG} objects disk-usage=? use-bitmap-index timestamp header no-commit-header`,
    },
    describe: files(
      "",
      "all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent dirty=? broken=?",
    ),
    "merge-base": files("a", "all octopus independent is-ancestor fork-point"),
    "cat-file": files("tsep", "batch-all-objects"),
    "name-rev": files("", "tags refs= exclude= all name-only no-undefined always"),
    "for-each-ref": files("", `count= exclude= ${LISTS_REFS}`),
    "show-ref": files("dsq", "head heads branches tags dereference hash=? verify abbrev=? quiet exists"),
    "count-objects": files("vH", "verbose human-readable"),
    "check-ignore": files("qvnz", "quiet verbose non-matching no-index"),
    branch: { short: "arvq", long: `all remotes list show-current verbose abbrev=? no-abbrev ${LISTS_REFS}` },
    tag: {
      short: "n?",
      long: LISTS_REFS,
      sub: { "-l": { long: LISTS_REFS, operands: "data" }, "--list": { long: LISTS_REFS, operands: "data" } },
    },
    remote: { short: "v", long: "verbose", sub: { "get-url": { long: "all push", operands: "data" } } },
    stash: { sub: { list: { ...SHOWS, operands: "data" }, show: SHOWS }, needsSub: true },
    worktree: { sub: { list: { short: "vz", long: "verbose porcelain" } }, needsSub: true },
    config: {
      sub: {
        "--get": { operands: "data", maxOperands: 1 },
        "--get-all": { operands: "data", maxOperands: 1 },
        "--list": { long: "local name-only show-origin show-scope" },
        "-l": { long: "local name-only show-origin show-scope" },
        get: { operands: "data", maxOperands: 1 },
        list: { long: "local name-only show-origin show-scope" },
      },
      needsSub: true,
    },
    reflog: { ...SHOWS, maxOperands: 0, sub: { show: SHOWS } },
  },
  needsSub: true,
};

/** Prints or deletes lines, or one replacement whose flags neither write a file nor run a command. */
const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:[^\\\/\n]|\\[^\n])*\/)`;
const SED_LINES = `${SED_ADDRESS}(?:,${SED_ADDRESS})?[pdq]`;
const SED_REPLACES = String.raw`s([\/|#,])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gIip\d]*`;
const SED_SCRIPT = new RegExp(`^(?:${SED_REPLACES}|${SED_LINES}(?:;${SED_LINES})*)$`);

/**
 * Prints fields of some lines. No sign in it begins a redirection, a pipe, a call or a comment, and none may end a
 * pattern or a text earlier or later than it does here, such as a bracket or a backslash.
 */
const AWK_PATTERN = String.raw`(?:NR *(?:[=!<>]=|[<>]) *\d+(?: *&& *NR *(?:[=!<>]=|[<>]) *\d+)?|\/[\w .:,^$*+-]*\/)`;
const AWK_VALUE = String.raw`(?:\$(?:\d+|NF)|NR|NF|"[\w .:,=-]*")`;
const AWK_SCRIPT = new RegExp(
  `^ *(?:${AWK_PATTERN}|${AWK_PATTERN}? *\\{ *print(?: *${AWK_VALUE}(?: *,? *${AWK_VALUE})*)? *\\}) *$`,
);

/** Programs that only read when they are called like this. Everything else is asked about, unless a rule or mode allows it. */
export const HARMLESS_PROGRAMS: Readonly<Record<string, HarmlessUse>> = {
  ls: files(
    "1AaBbCcdFfGghHiklLmnNopqQrRsStuUvxXZI:w:",
    "all almost-all escape ignore-backups directory classify=? file-type full-time group-directories-first no-group human-readable si inode ignore= hide= kibibytes dereference numeric-uid-gid literal reverse recursive size sort= time= time-style= color=? format= width= zero",
  ),
  cat: files(
    "AbeEnstTuv",
    "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
  ),
  head: { ...files("qvzn:c:", "quiet silent verbose zero-terminated lines= bytes="), digits: true },
  tail: { ...files("qvzn:c:", "quiet silent verbose zero-terminated lines= bytes="), digits: true },
  wc: files("clmwL", "bytes chars lines words max-line-length total="),
  nl: files("pb:d:f:h:i:l:n:s:v:w:", "body-numbering= number-format= number-separator= number-width="),
  tac: files("brs:", "before regex separator="),
  rev: files(""),
  cut: files(
    "snzb:c:d:f:",
    "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
  ),
  uniq: {
    ...files(
      "cdDiuzf:s:w:",
      "count repeated all-repeated=? ignore-case unique skip-fields= skip-chars= check-chars= zero-terminated",
    ),
    maxOperands: 1,
  },
  sort: files(
    "bcCdfghiMmnrRsuVzk:t:",
    "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort numeric-sort version-sort month-sort random-sort reverse check=? merge key= field-separator= stable unique zero-terminated sort=",
  ),
  comm: {
    ...files("123z", "check-order nocheck-order output-delimiter= total zero-terminated"),
    maxOperands: 2,
  },
  cmp: files("blsn:i:", "print-bytes verbose quiet silent bytes= ignore-initial="),
  diff: files(
    "abBcdeEinNpqrstTuwyZC:U:x:W:I:F:",
    "brief report-identical-files context=? unified=? ed normal rcs side-by-side width= left-column suppress-common-lines show-c-function recursive no-dereference new-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr exclude= color=? label= minimal speed-large-files",
  ),
  paste: files("szd:", "delimiters= serial zero-terminated"),
  join: files("iza:e:j:o:t:v:1:2:", "ignore-case header check-order nocheck-order zero-terminated"),
  tr: {
    short: "cCdst",
    long: "complement delete squeeze-repeats truncate-set1",
    operands: "data",
    maxOperands: 2,
  },
  fold: files("bsw:", "bytes spaces width="),
  expand: files("it:", "initial tabs="),
  column: files("tensxc:s:o:", "table fillrows separator= output-separator="),
  basename: { short: "azs:", long: "multiple suffix= zero", operands: "data" },
  dirname: { short: "z", long: "zero", operands: "data" },
  realpath: files(
    "emLPqszE",
    "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to= relative-base=",
  ),
  readlink: files(
    "femnqsvz",
    "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
  ),
  stat: files("LftZc:", "dereference file-system terse format= printf="),
  file: files(
    "bhikLNprs",
    "brief mime mime-type mime-encoding dereference no-dereference no-buffer no-pad raw",
  ),
  du: files(
    "0abcDhHkLlmPsSxd:t:",
    "all apparent-size bytes total human-readable max-depth= summarize separate-dirs one-file-system exclude= threshold= time=? si",
  ),
  df: files(
    "ahHiklPTt:x:",
    "all human-readable inodes local portability print-type type= exclude-type= total si",
  ),
  tree: files(
    "adflxpshugDFiCnNQrtUvL:P:I:",
    "noreport dirsfirst prune gitignore du si filesfirst ignore-case matchdirs filelimit= sort=",
  ),
  od: files(
    "abcdfhilosvxA:j:N:t:w?S:",
    "address-radix= skip-bytes= read-bytes= format= output-duplicates width=?",
  ),
  hexdump: files("bcCdovxn:s:", ""),
  xxd: { ...files("abiEpuc:g:l:s:o:"), maxOperands: 1 },
  strings: files("afwn:t:e:", "all print-file-name bytes= radix= encoding= include-all-whitespace"),
  md5sum: SUMS,
  sha1sum: SUMS,
  sha256sum: SUMS,
  sha512sum: SUMS,
  b2sum: SUMS,
  cksum: SUMS,
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: RG,
  find: FIND,
  sed: {
    short: "nErsuz",
    long: "quiet silent regexp-extended posix separate unbuffered null-data debug sandbox",
    operands: "paths",
    script: SED_SCRIPT,
  },
  // GNU's opens a connection for a missing file such as /inet/tcp/0/a.example/80.
  awk: { short: "F:", operands: "inside", script: AWK_SCRIPT },
  jq: files(
    "ncrRsSeaMCj",
    "null-input compact-output raw-output raw-input slurp sort-keys exit-status ascii-output monochrome-output color-output join-output tab",
  ),
  echo: { short: "neE", operands: "data" },
  printf: { operands: "data" },
  true: ONLY,
  false: ONLY,
  pwd: { short: "LP" },
  date: {
    short: "uRI?d:r:",
    long: "utc universal date= iso-8601=? rfc-3339= rfc-email",
    operands: "data",
    maxOperands: 1,
    script: /^\+/,
  },
  whoami: ONLY,
  // Its other options ask the network, or set the name.
  hostname: { short: "s", long: "short" },
  // Not `e` without a dash, which shows what the environments of others hold.
  ps: { short: "Aefw", operands: "data", maxOperands: 1, script: /^a?u?x?w{0,2}$/ },
  sleep: { operands: "data", maxOperands: 1, script: /^\d{1,2}(?:\.\d{1,3})?$/ },
  id: { short: "agGnruz", long: "group groups name real user zero" },
  uname: {
    short: "asnrvmpio",
    long: "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
  },
  nproc: { long: "all ignore=" },
  arch: ONLY,
  uptime: { short: "ps", long: "pretty since" },
  free: { short: "bkmghltw", long: "bytes kibi mebi gibi human lohi total wide" },
  which: { short: "a", long: "all", operands: "data" },
  type: { short: "aptP", operands: "data" },
  command: { sub: { "-v": { operands: "data" }, "-V": { operands: "data" } }, needsSub: true },
  seq: { short: "wf:s:", long: "equal-width format= separator=", operands: "data", maxOperands: 3 },
  test: { words: "f= d= e= s= r= w= x= L= h= n= z= eq= ne= lt= le= gt= ge=", operands: "data" },
  node: version("--version", "-v"),
  // Its -v runs the input, and says more.
  python: version("--version", "-V"),
  python3: version("--version", "-V"),
  ruby: version("--version"),
  rustc: version("--version", "-V"),
  go: { sub: { version: ONLY, env: { operands: "data" } }, needsSub: true },
  java: version("--version", "-version"),
  gcc: version("--version", "-v"),
  clang: version("--version", "-v"),
  git: GIT,
};
