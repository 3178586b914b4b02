/** On one line, with everything shown that a terminal would obey, hide, or pass off as something else. */
export const toVisible = (text: string): string =>
  text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

const UNSEEN = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
