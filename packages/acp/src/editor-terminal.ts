import { action, defineTool, type Tool, ToolError } from "@octant/core";
import { z } from "zod";
import type { EditorSession } from "./session.ts";

export interface EditorTerminalOptions {
  readonly session: EditorSession;
  readonly cwd: string;
  /** Called as soon as the terminal exists, so that the client can show it in the call. */
  readonly onOpen: (terminalId: string) => void;
}

const MAX_OUTPUT_BYTES = 64 * 1024;

/** A tool that runs commands in the editor, outside of the sandbox. */
export const editorTerminal = ({ session, cwd, onOpen }: EditorTerminalOptions): Tool =>
  defineTool({
    name: "terminal",
    summary: "The editor's terminal: commands run there, outside the sandbox, where the person sees them.",
    actions: {
      run: action({
        summary: "Run a shell command in the editor's terminal and wait for its end.",
        access: "write",
        timing: "sync",
        intent: "verify",
        destructive: true,
        openWorld: true,
        input: z.strictObject({
          command: z
            .string()
            .min(1)
            .describe("A command line for sh; prefer proc.exec for commands that work in the sandbox"),
        }),
        output: z.object({
          exit_code: z.int().nullable(),
          signal: z.string().nullable(),
          output: z.string(),
          truncated: z.boolean(),
        }),
        errors: ["UPSTREAM_ERROR"],
        examples: [{ title: "Show the version of git", input: { command: "git --version" } }],
        async run({ command }, { signal }) {
          try {
            await using terminal = await session.client.createTerminal({
              sessionId: session.id,
              command: "sh",
              args: ["-c", command],
              cwd,
              outputByteLimit: MAX_OUTPUT_BYTES,
            });
            onOpen(terminal.id);
            const kill = () => void terminal.kill().catch(() => {});
            signal.addEventListener("abort", kill, { once: true });
            if (signal.aborted) kill();
            const { exitCode, signal: ended } = await terminal.waitForExit();
            signal.throwIfAborted();
            const { output, truncated } = await terminal.currentOutput();
            return { exit_code: exitCode ?? null, signal: ended ?? null, output, truncated };
          } catch (cause) {
            signal.throwIfAborted();
            const reason = cause instanceof Error ? cause.message : String(cause);
            throw new ToolError("UPSTREAM_ERROR", `the editor's terminal failed: ${reason}`, {});
          }
        },
      }),
    },
  });
