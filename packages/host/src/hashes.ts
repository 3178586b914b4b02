import { hash } from "node:crypto";
import type { Hash } from "@octant/core";

/** The hash that names these bytes everywhere in Octant. */
export const hashOf = (bytes: Uint8Array): Hash => `sha256:${hash("sha256", bytes, "hex")}`;
