/** The letters that every provider accepts in the id of a call; another provider may have made it. */
export const safeId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_ID_CHARS);

const MAX_ID_CHARS = 64;
