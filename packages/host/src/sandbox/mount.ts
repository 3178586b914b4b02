/** One step in making the tree that a command sees. Later ones cover earlier ones; sources are of the real tree. */
export type Mount =
  /** `mayBeGone`: skipped when its source no longer exists. */
  | {
      readonly kind: "read" | "write" | "device";
      readonly source: string;
      readonly at: string;
      readonly mayBeGone?: true;
      /** Covers a socket; skipped when the socket no longer exists. */
      readonly ifThere?: true;
    }
  /** Empty and writable; removed when the command ends. */
  | { readonly kind: "empty"; readonly at: string }
  | { readonly kind: "folder"; readonly at: string }
  | { readonly kind: "link"; readonly target: string; readonly at: string }
  /** Makes this mount read-only; mounts inside it are unchanged. */
  | { readonly kind: "seal"; readonly at: string }
  | { readonly kind: "devices"; readonly at: string }
  | { readonly kind: "processes"; readonly at: string };

export type Bind = Extract<Mount, { readonly source: string }>;

export const read = (source: string, at = source): Bind => ({ kind: "read", source, at });
export const write = (source: string, at = source): Bind => ({ kind: "write", source, at });
