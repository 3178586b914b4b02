import { action, defineTool, pagingInput } from "@octant/core";
import { Annotation, type Workspace } from "@octant/host";
import { z } from "zod";
import { APPLY, INSPECT } from "../kinds.ts";
import { Target, toTarget } from "./target.ts";

const Kind = z.string().min(1).max(64);
const MAX_TEXT_CHARS = 16_384;

export const annotation = (workspace: Pick<Workspace, "storeOf" | "confinement">) =>
  defineTool({
    name: "annotation",
    summary: "Remarks about files, symbols, artifacts and identities.",
    actions: {
      add: action({
        summary: "Attach a remark to a file, symbol, artifact or identity.",
        ...APPLY,
        input: z.strictObject({
          target: Target,
          text: z.string().min(1).max(MAX_TEXT_CHARS),
          kind: Kind.default("note").describe("For example note, review, todo"),
        }),
        output: z.object({ annotation: Annotation }),
        errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE", "NO_SPACE", "IO_ERROR"],
        examples: [
          { title: "A remark about a file", input: { target: "README.md", text: "Out of date since 2.0" } },
        ],
        run({ target, text, kind }, { caller }) {
          const store = workspace.storeOf(caller.id);
          // NOT_FOUND: a remark about nothing would never be seen.
          if (target.startsWith("artifact_")) store.artifacts.get(target);
          if (target.startsWith("identity_")) store.graph.get(target);
          const fields = { target: toTarget(workspace, target), text, kind, author: caller.id };
          return { annotation: store.annotations.add(fields, Date.now()) };
        },
      }),
      list: action({
        summary: "List remarks, newest first.",
        ...INSPECT,
        input: z.strictObject({ target: Target.optional(), kind: Kind.optional(), ...pagingInput(50, 500) }),
        output: z.object({ annotations: z.array(Annotation) }),
        errors: ["OUTSIDE_WORKSPACE", "INVALID_CURSOR"],
        examples: [{ title: "About a file", input: { target: "README.md" } }],
        run({ target, kind, limit }, ctx) {
          const before = ctx.resume(Annotation.shape.annotation_id);
          const about = target === undefined ? undefined : toTarget(workspace, target);
          const { annotations } = workspace.storeOf(ctx.caller.id);
          const found = annotations.list({ target: about, kind, before, limit: limit + 1 });
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.annotation_id);
          return { annotations: page };
        },
      }),
    },
  });
