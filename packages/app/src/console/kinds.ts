/** What the person's tool reads or changes concerns the whole process, so a caller of one project has no part in it. */
const PERSON = { target: "global", timing: "sync" } as const;

export const READ = { ...PERSON, access: "read", intent: "inspect" } as const;
export const CHANGE = { ...PERSON, access: "write", intent: "apply" } as const;
