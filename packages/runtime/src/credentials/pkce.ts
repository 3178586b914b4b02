import { createHash } from "node:crypto";

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;

export const isVerifier = (text: string): boolean => VERIFIER.test(text);

/** The S256 challenge of a verifier. */
export const toChallenge = (verifier: string): string =>
  createHash("sha256").update(verifier, "ascii").digest("base64url");
