const OWNER = /^owner_[0-9a-f]{32}/;

/**
 * The owner of the bridge for whom a caller acts; undefined for callers of the person who started the server, who share
 * what is stored. An owner sees only its own.
 */
export const ownerOf = (callerId: string): string | undefined => OWNER.exec(callerId)?.[0];

export const toOwnerId = (digest: string): string => `owner_${digest.slice(0, 32)}`;

/** The caller id of a sub-agent's session: it acts for the owner of its parent. */
export function toMemberId(parent: string, session_id: string): string {
  const owner = ownerOf(parent);
  return owner === undefined ? session_id : `${owner}.${session_id}`;
}

/** The session of a sub-agent's caller id. */
export const sessionOf = (callerId: string): string => callerId.slice(callerId.lastIndexOf(".") + 1);
