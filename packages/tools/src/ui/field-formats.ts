import { type Acting, invalid } from "@octant/host";

/** Fields that accept one form of text only, with an example. Browsers empty them when they get another. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "a date such as 2026-11-16",
  time: "a time such as 12:30",
  "datetime-local": "a date and time such as 2026-11-16T12:30",
  month: "a month such as 2026-11",
  week: "a week such as 2026-W47",
  color: "a colour such as #ff8800",
  range: "a number within its limits",
};

/** INVALID_ARGUMENT, with nothing changed, when the field of the target would not keep the text. */
export async function checkFormat({ locator, waits, run }: Acting, text: string): Promise<void> {
  await locator.waitFor({ ...waits, state: "attached" });
  const refusedBy = await run(toCheck(text.trim()), true);
  const format = typeof refusedBy === "string" ? FORMATS[refusedBy] : undefined;
  if (format !== undefined) throw invalid("text", `this field takes ${format}`);
}

/** Tries the text in a copy of the field; returns its type when the copy does not keep it. */
const toCheck = (text: string): string => `(element) => {
  const field = element.control ?? element;
  const text = ${JSON.stringify(text)};
  if (field.tagName !== "INPUT" || text === "" || !${JSON.stringify(Object.keys(FORMATS))}.includes(field.type)) return null;
  const copy = field.cloneNode();
  copy.value = text;
  const isKept =
    field.type === "color" ? CSS.supports("color", text)
    : field.type === "range" ? Number(copy.value) === Number(text)
    : copy.value !== "";
  return isKept ? null : field.type;
}`;
