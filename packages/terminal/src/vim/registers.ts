/** Yanked or deleted text, as lines or as characters. */
export type Register = { text: string; linewise: boolean };

export type Registers = Readonly<Record<string, Register>>;

const EMPTY: Register = { text: "", linewise: false };

export const readRegister = (registers: Registers, name = '"'): Register =>
  registers[name === '"' ? '"' : name.toLowerCase()] ?? EMPTY;

/** Stores the text of an operator; "_" stores nothing, a capital letter appends, and "0" has the last yank. */
export function writeRegister(
  registers: Registers,
  name: string | undefined,
  value: Register,
  yanked: boolean,
): Registers {
  if (name === "_") return registers;
  const written: Record<string, Register> = { ...registers };
  if (name === undefined || name === '"') {
    if (yanked) written["0"] = value;
    return { ...written, '"': value };
  }
  const key = name.toLowerCase();
  const whole = name === key ? value : appended(registers[key], value);
  return { ...written, [key]: whole, '"': whole };
}

function appended(old: Register | undefined, added: Register): Register {
  if (!old) return added;
  const linewise = old.linewise || added.linewise;
  return { text: old.text + (linewise ? "\n" : "") + added.text, linewise };
}
