import { fieldOf, listOf, stringOf } from "./wire.ts";

export interface WholeCall {
  readonly name: string;
  readonly arguments: string;
  readonly signature: unknown;
}

/**
 * Gemini sends a call whole, or in pieces: first its name with `willContinue`, then values with their paths, finally
 * an empty object.
 */
export function createPartialArgs() {
  let name = "";
  let args: Record<string, unknown> = {};
  let signature: unknown;
  return {
    /** The call, once it is complete. */
    add(call: unknown, signed: unknown): WholeCall | undefined {
      signature = signed ?? signature;
      name = stringOf(call, "name") || name;
      for (const piece of listOf(call, "partialArgs")) args = withPiece(args, piece);
      const whole = fieldOf(call, "args");
      if (typeof whole === "object" && whole !== null) args = { ...args, ...whole };
      if (fieldOf(call, "willContinue") === true) return undefined;
      const made = { name, arguments: JSON.stringify(args), signature };
      [name, args, signature] = ["", {}, undefined];
      return made.name === "" ? undefined : made;
    },
  };
}

const STEP = /\.([^.[\]]+)|\[(?:(\d+)|'([^']*)'|"([^"]*)")\]/g;
/** Names that would reach the prototype. */
const isUnsafe = (step: string | number) =>
  step === "__proto__" || step === "constructor" || step === "prototype";

/** Sets one value at its path, such as `$.edits[0].text`; text that comes in pieces is appended. */
function withPiece(args: Record<string, unknown>, piece: unknown): Record<string, unknown> {
  const steps = [...stringOf(piece, "jsonPath").matchAll(STEP)].map(([, dotted, index, single, double]) =>
    index === undefined ? (dotted ?? single ?? double ?? "") : Number(index),
  );
  if (steps.length === 0 || steps.some(isUnsafe)) return args;
  return setAt(args, steps, pieceValue(piece)) as Record<string, unknown>; // An object stays an object.
}

function setAt(target: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined)
    return typeof target === "string" && typeof value === "string" ? target + value : value;
  if (typeof step === "number") {
    const list = Array.isArray(target) ? [...target] : [];
    list[step] = setAt(list[step], rest, value);
    return list;
  }
  const object: Record<string, unknown> = { ...(typeof target === "object" && target) };
  object[step] = setAt(object[step], rest, value);
  return object;
}

function pieceValue(piece: unknown): unknown {
  for (const kind of ["stringValue", "numberValue", "boolValue"]) {
    const value = fieldOf(piece, kind);
    if (value !== undefined) return value;
  }
  return null;
}
