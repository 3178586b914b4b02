/** The name of the person's own tool. It is on no list of tools, so no model sees it, and no pack can take it. */
export const CONSOLE = "console";
