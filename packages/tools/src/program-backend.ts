import type { Backend } from "@octant/core";

/** The state of a backend that is a program of the system. */
export async function programBackend(
  name: string,
  find: () => Promise<{ readonly version: string; readonly program: string }>,
): Promise<Backend> {
  try {
    const { version, program } = await find();
    return { name, available: true, version, detail: program };
  } catch (cause) {
    return { name, available: false, detail: cause instanceof Error ? cause.message : String(cause) };
  }
}
