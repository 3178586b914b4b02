import { z } from "zod";
import type { ToolDeclaration } from "./declarations.ts";

export const PROTOCOL = "HOOT01";

/** A client's first message. All fields are optional. */
export const ClientReady = z.object({
  protocol: z.literal(PROTOCOL).optional(),
  accepts_binary: z.boolean().optional(),
  /** Requests the tools with their schemas, not only their names. */
  declarations: z.boolean().optional(),
});
export type ClientReady = z.output<typeof ClientReady>;

/** A server's announcement. */
export interface ServerReady {
  readonly protocol: typeof PROTOCOL;
  readonly name: string;
  readonly version: string;
  /** Identifies this run of the server; absent over NATS, where no call is sent twice. */
  readonly server_id?: string;
  readonly tools: readonly string[];
  readonly declarations?: readonly ToolDeclaration[];
  readonly instructions?: string;
  /** The URIs of the workspace. */
  readonly roots?: readonly string[];
  readonly accepts_binary: boolean;
  /** The PUB socket with job states and stream chunks. */
  readonly broadcast?: string;
  /** A client that has sent heartbeats and is silent for three times this long counts as gone. */
  readonly heartbeat_ms: number;
  readonly max_body_bytes: number;
}
