import { expect, test } from "vitest";
import { assembleFilter, hasSeccomp } from "./seccomp.ts";
import { ARCHITECTURES, ARGUMENT_RULES, EPERM, REFUSED, UNKNOWN } from "./syscalls.ts";

const ALLOW = 0x7fff0000;
const fails = (errno: number) => 0x00050000 | errno;

/** As the kernel runs it, for the instructions that we use. */
function runFilter(filter: Buffer, call: { arch: number; number: number; args?: readonly number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [n, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(BigInt(value), 16 + n * 8);
  let word = 0;
  for (let at = 0; ; at += 8) {
    const [code, then, otherwise, value] = [
      filter.readUInt16LE(at),
      filter[at + 2]!,
      filter[at + 3]!,
      filter.readUInt32LE(at + 4),
    ];
    const jump = (holds: boolean) => {
      at += (holds ? then : otherwise) * 8;
    };
    if (code === 0x20) word = data.readUInt32LE(value);
    else if (code === 0x15) jump(word === value);
    else if (code === 0x35) jump(word >= value);
    else if (code === 0x45) jump((word & value) !== 0);
    else if (code === 0x06) return value;
    else throw new Error(`opcode ${code}`);
  }
}

for (const arch of ["x64", "arm64"] as const) {
  const { audit, column } = ARCHITECTURES[arch];
  const run = (number: number, ...args: number[]) =>
    runFilter(assembleFilter(arch), { arch: audit, number, args });
  const numberOf = (name: string) => ARGUMENT_RULES[name]!.numbers[column]!;

  test(`${arch}: exactly the listed calls are refused`, () => {
    const refused = Object.values(REFUSED).map((numbers) => numbers[column]);
    const special = [
      ...Object.values(UNKNOWN),
      ...Object.values(ARGUMENT_RULES).map(({ numbers }) => numbers),
    ].map((numbers) => numbers[column]);
    for (let number = 0; number < 500; number++) {
      if (special.includes(number)) continue;
      expect(run(number), `${number}`).toBe(refused.includes(number) ? fails(EPERM) : ALLOW);
    }
  });

  test(`${arch}: arguments decide, and only their lower half`, () => {
    expect(run(numberOf("clone"), 0x10000011)).toBe(fails(EPERM));
    expect(run(numberOf("clone"), 0x01200011)).toBe(ALLOW);
    expect(run(numberOf("unshare"), 0x10000000)).toBe(fails(EPERM));
    expect(run(numberOf("ioctl"), 0, 0x5412)).toBe(fails(EPERM));
    expect(run(numberOf("ioctl"), 0, 2 ** 32 + 0x5412)).toBe(fails(EPERM));
    expect(run(numberOf("ioctl"), 0, 0x5413)).toBe(ALLOW);
    expect(run(numberOf("personality"), 0xffffffff)).toBe(ALLOW);
    expect(run(numberOf("personality"), 0x0400000)).toBe(fails(EPERM));
    expect(run(numberOf("socket"), 40)).toBe(fails(97));
    expect(run(numberOf("socket"), 2)).toBe(ALLOW);
  });

  test(`${arch}: calls of another architecture are unknown`, () => {
    expect(runFilter(assembleFilter(arch), { arch: 0x40000003, number: 1 })).toBe(fails(38));
    expect(run(UNKNOWN["clone3"]![column]!)).toBe(fails(38));
  });
}

test("the 32-bit names of 64-bit calls are unknown, and other processors have no filter", () => {
  const x32 = { arch: ARCHITECTURES.x64.audit, number: 0x40000000 + 101 };
  expect(runFilter(assembleFilter("x64"), x32)).toBe(fails(38));
  expect(hasSeccomp("riscv64")).toBe(false);
});
