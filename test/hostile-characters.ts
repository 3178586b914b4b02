/** What a terminal obeys, hides or reorders: C0, C1, CSI, OSC, DCS, bidirectional and invisible characters. */
export const HOSTILE = [
  "\x1b[2J\x1b[5mblink",
  "\x1b]0;title\x07",
  "\x1b]52;c;aGk=\x1b\\",
  "\x1b]8;;http://evil.example\x07link",
  "\x1bPq#0\x1b\\",
  "\x9b31m\x90q\x9c\x85",
  "over\rwritten\b\b\x7f\0\x0b\x0c\x0e",
  "\u202egnp\u2066\u061c\u200e",
  "\u3164\u115f\u1160\uffa0\u200b\u2060\ufeff\u00ad\u034f",
  "\u{e0041}\u{e0100}\ufe00",
  "\u2028\u2029\ud800",
].join(" ");

const OURS = /\x1b\[(?:1|2|22|31|32|33|36|39)m/g;

/** Whether only our own colours, new lines and tabs are left of what a terminal obeys or hides. */
export const isHarmless = (text: string): boolean =>
  !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(
    text.replace(OURS, ""),
  );
