import { constants } from "node:os";

/** Undefined for a number that is not a signal. */
export const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
