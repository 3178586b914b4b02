import {
  ARCHITECTURES,
  ARGUMENT_RULES,
  type Architecture,
  ENOSYS,
  EPERM,
  type Numbers,
  REFUSED,
  UNKNOWN,
} from "./syscalls.ts";

export const hasSeccomp = (arch: string): arch is Architecture => arch in ARCHITECTURES;

/** The filter for `bwrap --seccomp`: a classic BPF program over `struct seccomp_data`, little-endian. */
export function assembleFilter(arch: Architecture): Buffer {
  const { audit } = ARCHITECTURES[arch];
  return Buffer.concat([
    load(ARCHITECTURE),
    // Programs of another architecture have other numbers; 32-bit ones do not run.
    ifElse(JUMP_EQUAL, audit, 1, 0),
    fail(ENOSYS),
    load(NUMBER),
    ...(arch === "x64" ? [ifElse(JUMP_AT_LEAST, X32_NUMBERS, 0, 1), fail(ENOSYS)] : []),
    ...numbersOf(REFUSED, arch).flatMap((number) => [ifElse(JUMP_EQUAL, number, 0, 1), fail(EPERM)]),
    ...numbersOf(UNKNOWN, arch).flatMap((number) => [ifElse(JUMP_EQUAL, number, 0, 1), fail(ENOSYS)]),
    ...Object.values(ARGUMENT_RULES).map((rule) => toArgumentCheck(rule, arch)),
    statement(RETURN, ALLOW),
  ]);
}

type ArgumentRule = (typeof ARGUMENT_RULES)[string];

/** Skipped as a whole for every other number; after it nothing but "allow" is left to say for this one. */
function toArgumentCheck({ numbers, argument, when, errno }: ArgumentRule, arch: Architecture): Buffer {
  const number = numbers[ARCHITECTURES[arch].column];
  if (number === null) return Buffer.alloc(0);
  const body = Buffer.concat([
    load(ARGUMENTS + argument * ARGUMENT_BYTES),
    ...comparisons(when, fail(errno)),
    statement(RETURN, ALLOW),
  ]);
  return Buffer.concat([ifElse(JUMP_EQUAL, number, 0, body.length / INSTRUCTION_BYTES), body]);
}

function comparisons(when: ArgumentRule["when"], refuse: Buffer): Buffer[] {
  if ("anyBit" in when) return [ifElse(JUMP_ANY_BIT, when.anyBit, 0, 1), refuse];
  if ("equals" in when) return when.equals.flatMap((value) => [ifElse(JUMP_EQUAL, value, 0, 1), refuse]);
  return [
    ...when.allBut.flatMap((value) => [ifElse(JUMP_EQUAL, value, 0, 1), statement(RETURN, ALLOW)]),
    refuse,
  ];
}

const numbersOf = (table: Readonly<Record<string, Numbers>>, arch: Architecture): number[] =>
  Object.values(table)
    .map((numbers) => numbers[ARCHITECTURES[arch].column])
    .filter((number) => number !== null);

// Offsets into struct seccomp_data.
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;
const ARGUMENT_BYTES = 8;
/** System calls of the x32 flavour of x64 start here. */
const X32_NUMBERS = 0x40000000;

// BPF opcodes.
const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const FAIL_WITH = 0x00050000;
const INSTRUCTION_BYTES = 8;

const load = (offset: number): Buffer => statement(LOAD_WORD, offset);
const fail = (errno: number): Buffer => statement(RETURN, FAIL_WITH | errno);
const statement = (code: number, value: number): Buffer => ifElse(code, value, 0, 0);

/** One instruction; `then` and `otherwise` say how many of the next ones are jumped over. */
function ifElse(code: number, value: number, then: number, otherwise: number): Buffer {
  const instruction = Buffer.alloc(INSTRUCTION_BYTES);
  instruction.writeUInt16LE(code, 0);
  instruction.writeUInt8(then, 2);
  instruction.writeUInt8(otherwise, 3);
  instruction.writeUInt32LE(value >>> 0, 4);
  return instruction;
}
