import type { Sandbox } from "@octant/host";

/**
 * One line about the sandbox for the server's log. A machine that cannot test it now, for example with a full
 * disk, still serves.
 */
export async function describeSandbox(sandbox: Sandbox): Promise<string> {
  try {
    const { level, detail } = await sandbox.status();
    return `sandbox ${level}: ${detail}`;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return `the sandbox could not be tested yet (${reason}); commands are refused until it can be`;
  }
}
