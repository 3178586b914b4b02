/** The words of a table that is written as text, a line per subject. */
export const words = (table: string): readonly string[] => table.trim().split(/\s+/);
