import { ToolError } from "@octant/core";

/** Commands run one after another, in the order in which they came. */
export function createQueue() {
  let waiting: { run(): Promise<void>; cancel(): void }[] = [];
  let isRunning = false;

  async function pump(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next.run();
    isRunning = false;
  }

  return {
    get size() {
      return waiting.length;
    },
    run<T>(work: () => Promise<T> | T): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      waiting.push({
        run: async () => {
          try {
            resolve(await work());
          } catch (cause) {
            reject(cause);
          }
        },
        cancel: () => reject(new ToolError("CANCELLED", "an emergency pause came before this command", {})),
      });
      void pump();
      return promise;
    },
    /** Commands that have not begun never will. */
    clear(): number {
      const dropped = waiting;
      waiting = [];
      for (const { cancel } of dropped) cancel();
      return dropped.length;
    },
  };
}
