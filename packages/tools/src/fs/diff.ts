import { ANSWER_BYTES, action, Hash, MAX_ANSWER_BYTES, ofKind, Ref, Uri } from "@octant/core";
import { type Blobs, type Confinement, compareStates, excerptOfText, toRef } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

export const diff = ({ confinement, blobs }: { confinement: Confinement; blobs: Blobs }) =>
  action({
    summary: "Diff two versions of a file by hash; versions replaced by edits stay available.",
    ...INSPECT,
    input: z.strictObject({
      hash_a: ofKind("subject", Hash).optional().describe("From"),
      hash_b: ofKind("subject", Hash).optional().describe("To"),
      uri: Uri.optional(),
      max_bytes: z.int().min(1).max(MAX_ANSWER_BYTES).default(ANSWER_BYTES),
    }),
    output: z.object({
      hash_a: Hash,
      hash_b: Hash,
      diff: z.string().describe("Empty when the versions are equal"),
      tail: z.string().optional().describe("The end, when it does not fit whole"),
      omitted_bytes: z.int().optional(),
      ref: Ref.optional().describe("The whole content"),
    }),
    errors: ["NOT_FOUND", "NOT_A_FILE", "OUTSIDE_WORKSPACE", "TOO_LARGE", "NO_SPACE"],
    examples: [
      {
        title: "Changes since an earlier version",
        input: {
          uri: "README.md",
          hash_a: "sha256:5c8c452c74c389cf4884fd86dc68f515f8f54e9474bb54c653ba43540ca893ca",
        },
      },
    ],
    text({ diff: head, tail, omitted_bytes, ref, hash_a, hash_b }) {
      if (head === "") return { body: "no difference" };
      const body = tail === undefined ? head : `${head}[… ${omitted_bytes} bytes omitted …]\n${tail}`;
      return { body, handles: { from: hash_a, to: hash_b, ref } };
    },
    async run({ max_bytes, ...states }) {
      const { diff: whole, ...hashes } = compareStates(confinement, blobs, states);
      const bytes = Buffer.from(whole);
      const { text = "", tail, omitted } = await excerptOfText(bytes, max_bytes);
      const rest = omitted && { tail, omitted_bytes: omitted.bytes, ref: toRef(blobs.put(bytes)) };
      return { ...hashes, diff: text, ...rest };
    },
  });
