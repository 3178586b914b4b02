import { z } from "zod";
import { describeRequest } from "./describe-request.ts";
import type { PermissionPrompter } from "./prompter.ts";
import { alwaysInWords } from "./rule.ts";

const CHOICES = { once: "Once", session: "For this session", always: "Always", deny: "No" } as const;

const Content = z.object({
  answer: z.enum(["once", "session", "always", "deny"]),
  reason: z.string().max(1_000).optional(),
});

/** Asks with a form in the client that called. A closed form is a no; a form that cannot be shown counts as unattended. */
export const askThroughClient: PermissionPrompter = {
  async requestPermission(request) {
    const { always } = request;
    const rule = always ? alwaysInWords(always).map((line) => `  ${line}`) : [];
    const offered = Object.entries(CHOICES).filter(([choice]) => choice !== "always" || always);
    const answer = await request.ask({
      message: [...describeRequest(request), ...rule].join("\n"),
      form: {
        type: "object",
        properties: {
          answer: {
            type: "string",
            title: "Allow it?",
            oneOf: offered.map(([choice, title]) => ({ const: choice, title })),
          },
          reason: { type: "string", title: "Why not?", maxLength: 1_000 },
        },
        required: ["answer"],
      },
    });
    if (!answer) return { answer: "unattended" };
    const content = Content.safeParse(answer.content);
    if (answer.action !== "accept" || !content.success) return { answer: "deny" };
    if (content.data.answer === "deny") return { answer: "deny", reason: content.data.reason };
    return { answer: content.data.answer };
  },
};
