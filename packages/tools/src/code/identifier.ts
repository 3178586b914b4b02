import { invalidArgument } from "@octant/core";
import type { Path } from "@octant/host";
import { languageOf } from "@octant/search";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const SCRIPT_WORDS = words(
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield",
);
const C_WORDS = words(
  "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while",
);

/** Reserved words by language. */
const RESERVED: Readonly<Record<string, ReadonlySet<string>>> = {
  typescript: SCRIPT_WORDS,
  tsx: SCRIPT_WORDS,
  javascript: SCRIPT_WORDS,
  python: words(
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield",
  ),
  go: words(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
  ),
  rust: words(
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  ),
  java: words(
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for goto if implements import instanceof int interface long native new package private protected public return short static strictfp super switch synchronized this throw throws transient try void volatile while true false null",
  ),
  c: C_WORDS,
  cpp: words(
    `${[...C_WORDS].join(" ")} bool catch class constexpr delete explicit false friend mutable namespace new noexcept nullptr operator private protected public static_cast template this throw true try typename using virtual`,
  ),
};

const WITH_DOLLAR: ReadonlySet<string> = new Set(["typescript", "tsx", "javascript", "java", "php"]);
const PLAIN = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const DOLLAR = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/** INVALID_ARGUMENT unless the text is a valid identifier in the language of the file. */
export function checkIdentifier(path: Path, name: string): void {
  const { id = "", id: title = "this language", signedNames } = languageOf(path) ?? {};
  // The `#` of TypeScript's private names belongs to the name.
  const own = WITH_DOLLAR.has(id) && id !== "php" ? name.replace(/^#/, "") : name;
  const isName = (WITH_DOLLAR.has(id) ? DOLLAR : PLAIN).test(signedNames ? own.replace(/[!?]$/, "") : own);
  if (!isName)
    throw invalidArgument(
      "new_name",
      `'${name}' is not an identifier of ${title}; use letters, digits and _`,
    );
  if (RESERVED[id]?.has(own))
    throw invalidArgument("new_name", `'${name}' is a reserved word of ${title}; choose another name`);
}
