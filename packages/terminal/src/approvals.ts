import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "@octant/runtime";
import { choicesFor } from "./view/permission.ts";

export type ApprovalsOptions = {
  /** A question was added or answered. */
  onChange: (isNew: boolean) => void;
  /** The person wants the agent to stop instead of answering. */
  stop: () => void;
};

type Asking = { request: PermissionRequest; answer: (answer: PermissionAnswer) => void; isReason: boolean };

/** The approvals that wait for the person, shown one at a time. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  #asking: Asking[] = [];

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  readonly prompter: PermissionPrompter = {
    reads: "text",
    requestPermission: (request) =>
      new Promise((resolve, reject) => {
        const asking: Asking = {
          request,
          isReason: request.question !== undefined,
          answer: (answer) => this.#settle(asking, () => resolve(answer)),
        };
        const cancelled = () => this.#settle(asking, () => reject(request.signal.reason));
        request.signal.addEventListener("abort", cancelled, { once: true });
        this.#asking.push(asking);
        this.#options.onChange(true);
      }),
  };

  /** The oldest one, to be shown. */
  get request(): PermissionRequest | undefined {
    return this.#asking[0]?.request;
  }

  /** Whether the person is typing: the reason for a denial, or the answer to a question. */
  get isReason(): boolean {
    return this.#asking[0]?.isReason ?? false;
  }

  key(key: string): void {
    const [asking] = this.#asking;
    if (!asking) return;
    if (key === "Escape" || key === "Ctrl-C") this.#options.stop();
    const choice = choicesFor(asking.request).find((one) => one.key === key.toLowerCase());
    if (choice?.answer === "reason") asking.isReason = true;
    else if (choice) asking.answer({ answer: choice.answer });
  }

  /** What the person wrote. */
  write(text: string): void {
    const [asking] = this.#asking;
    if (asking?.request.question === undefined) asking?.answer({ answer: "deny", reason: text });
    else asking.answer({ answer: "once", text });
  }

  #settle(asking: Asking, then: () => void): void {
    if (!this.#asking.includes(asking)) return;
    this.#asking = this.#asking.filter((one) => one !== asking);
    then();
    this.#options.onChange(false);
  }
}
