import { inject } from "vitest";

/** Whether this machine lacks one of these system packages; `scripts/system-packages.ts` lists them. */
export const lacks = (...packages: string[]): boolean =>
  packages.some((name) => inject("missing").includes(name));
