import { errorLine, INTERNAL_ERROR, toMessage } from "./messages.ts";
import type { BridgeOptions, Position, SdkBridge } from "./sdk-bridge.ts";

/** The way to the SDK, which is loaded by the first message that needs it: it takes longer than all of us. */
export interface SdkGate {
  /** True from the first message on. */
  isUsed(): boolean;
  deliver(value: unknown, position: Position): void;
  close(): Promise<void>;
}

export function createSdkGate(options: BridgeOptions): SdkGate {
  let waiting: [value: unknown, position: Position][] = [];
  let bridge: SdkBridge | undefined;
  let loading: Promise<void> | undefined;

  const load = async () => {
    try {
      const { createSdkBridge } = await import("./sdk-bridge.ts");
      bridge = createSdkBridge(options);
      for (const [value, position] of waiting) bridge.deliver(value, position);
    } catch (cause) {
      options.service.log(`mcp: the SDK could not be loaded: ${cause}`);
      for (const [value] of waiting) refuse(value);
      loading = undefined;
    }
    waiting = [];
  };
  const refuse = (value: unknown) => {
    const id = toMessage(value)?.id;
    if (id !== undefined) options.write(errorLine(id, INTERNAL_ERROR, "Internal error"));
  };
  return {
    isUsed: () => loading !== undefined,
    deliver(value, position) {
      if (bridge) return bridge.deliver(value, position);
      waiting.push([value, position]);
      loading ??= load();
    },
    async close() {
      await loading;
      // Whatever it fails at, the connection ends.
      await bridge?.close().catch((cause) => options.service.log(`mcp: the SDK did not close: ${cause}`));
    },
  };
}
