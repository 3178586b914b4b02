/** Reduces a call id, possibly made by another provider, to characters that every provider accepts. */
export const safeId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_ID_CHARS);

const MAX_ID_CHARS = 64;
