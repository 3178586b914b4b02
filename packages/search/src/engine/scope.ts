/** Whether the file is `scope` or lies below it; an empty scope contains every file. */
export const isIn = (scope: string, file: string): boolean => {
  const within = normalScope(scope);
  return within === "" || file === within || file.startsWith(`${within}/`);
};

/** Normalises a scope to the form used in the index. */
export const normalScope = (scope: string): string => scope.replace(/^\.(?:\/|$)/, "").replace(/\/+$/, "");
