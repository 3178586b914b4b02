/** The person's tool reads and changes the whole process, so a caller of one project cannot use it. */
const PERSON = { target: "global", timing: "sync" } as const;

export const READ = { ...PERSON, access: "read", intent: "inspect" } as const;
export const CHANGE = { ...PERSON, access: "write", intent: "apply" } as const;
