import { constants } from "node:os";

/** Undefined for a number that is no signal's. */
export const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
