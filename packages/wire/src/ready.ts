import { z } from "zod";
import type { ToolDeclaration } from "./declarations.ts";

export const PROTOCOL = "HOOT01";

/** What a client says first. All of it may be left out. */
export const ClientReady = z.object({
  protocol: z.literal(PROTOCOL).optional(),
  accepts_binary: z.boolean().optional(),
  /** The tools with their schemas, and not only their names. */
  declarations: z.boolean().optional(),
});
export type ClientReady = z.output<typeof ClientReady>;

/** What a server announces. */
export interface ServerReady {
  readonly protocol: typeof PROTOCOL;
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
  readonly declarations?: readonly ToolDeclaration[];
  readonly instructions?: string;
  /** The URIs of the workspace. */
  readonly roots?: readonly string[];
  readonly accepts_binary: boolean;
  /** The PUB socket with job states and stream chunks. */
  readonly broadcast?: string;
  /** A client that sends none for three times as long, after it sent one, counts as gone. */
  readonly heartbeat_ms: number;
  readonly max_body_bytes: number;
}
