import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyAction, type ArgumentKind, action, ofKind } from "@octant/core";
import { z } from "zod";
import type { TierName } from "../../config/config.ts";
import type { Decision } from "../policy.ts";
import type { PermissionRule } from "../rule.ts";

type Held = ArgumentKind | null | readonly { readonly [name: string]: Held }[];

export interface Vector {
  readonly name: string;
  readonly tiers: Partial<Record<TierName, PermissionRule[]>>;
  readonly call: { readonly name: string; readonly input: Record<string, unknown> };
  readonly decision: Pick<Decision, "mode" | "tier"> & { readonly rule: number | null };
}

interface Vectors {
  readonly files: Record<string, string>;
  readonly links: Record<string, string>;
  readonly actions: Record<string, Record<string, Held>>;
  readonly vectors: readonly Vector[];
}

/** The folder that the vectors are about, and the actions as they declare them. */
export function loadVectors() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-permissions-")));
  const load = (file: string) =>
    JSON.parse(
      readFileSync(join(import.meta.dirname, "../../../../../vectors", file), "utf8").replaceAll(
        "{root}",
        root,
      ),
    );
  const { files, links, actions, vectors }: Vectors = load("permission-policy.json");
  const { permissions }: { permissions: readonly Vector[] } = load("host-rules.json");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  return {
    root,
    vectors: [...vectors, ...permissions],
    actions: new Map(Object.entries(actions).map(([name, held]) => [name, toAction(held)])),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

export const toAction = (held: Record<string, Held>, more: Partial<AnyAction> = {}): AnyAction =>
  action({
    summary: "Does something.",
    access: "write",
    timing: "sync",
    intent: "apply",
    input: z.strictObject(toShape(held)),
    output: z.unknown(),
    examples: [{ title: "It", input: {} }],
    run: () => "done",
    ...more,
  });

function toShape(held: Record<string, Held>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(held).map(([name, what]) => [
      name,
      Array.isArray(what)
        ? z.array(z.object(toShape(what[0]))).optional()
        : typeof what === "string"
          ? // A list was taken out above, but Array.isArray does not tell that of readonly ones.
            ofKind(what as ArgumentKind, z.unknown())
          : z.unknown(),
    ]),
  );
}
