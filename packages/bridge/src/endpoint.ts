import type { Identity } from "./token.ts";

/** Where a conversation's frames go. */
export interface FrameOutlet {
  write(frame: string): void;
  /** True while the client reads more slowly than it is answered. */
  isFull(): boolean;
}

/** One client's conversation, apart from its connection: it may outlive several. */
export interface BridgeConversation {
  /** Takes the text of one frame. */
  receive(text: string): void;
  /** The outlet is no longer full. */
  resume(): void;
  /** Cancels what runs. */
  close(): Promise<void>;
}

/** What is behind a path of the bridge, such as MCP or the agent. */
export interface BridgeEndpoint {
  open(identity: Identity, outlet: FrameOutlet): BridgeConversation;
}
