import { ofKind } from "@octant/core";
import { pathToUri, type Workspace } from "@octant/host";
import { z } from "zod";

const MAX_TARGET_CHARS = 4_096;

/** The subject of an annotation or an identity. */
export const Target = ofKind("subject", z.string().min(1).max(MAX_TARGET_CHARS)).describe(
  "File URI or path, sym:…, artifact_…, identity_… or sha256:…",
);

const IS_HANDLE = /^(sym:|artifact_|identity_|sha256:|blob:|cas:)/;

/** Normalises a file to its URI; OUTSIDE_WORKSPACE when it is not in the workspace. */
export const toTarget = ({ confinement }: Pick<Workspace, "confinement">, target: string): string =>
  IS_HANDLE.test(target) ? target : pathToUri(confinement.toPath(target));

export const Tag = z.string().min(1).max(128).describe("For example type:melody or reviewed");
export const EXAMPLE_ARTIFACT = "artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
export const EXAMPLE_IDENTITY = "identity_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
export const EXAMPLE_HASH = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
