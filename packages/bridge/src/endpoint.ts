import type { Identity } from "./token.ts";

/** The destination of a conversation's frames. */
export interface FrameOutlet {
  write(frame: string): void;
  /** True while the client reads more slowly than it is answered. */
  isFull(): boolean;
}

/** One client's conversation, which may outlive several connections. */
export interface BridgeConversation {
  /** Handles the text of one frame. */
  receive(text: string): void;
  /** Call when the outlet is no longer full. */
  resume(): void;
  /** Cancels running work. */
  close(): Promise<void>;
}

/** The service behind a path of the bridge, such as MCP or the agent. */
export interface BridgeEndpoint {
  open(identity: Identity, outlet: FrameOutlet): BridgeConversation;
}
