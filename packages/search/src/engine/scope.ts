/** Whether a file is the one that is meant, or lies below the folder that is meant; an empty scope means all. */
export const isIn = (scope: string, file: string): boolean => {
  const within = normalScope(scope);
  return within === "" || file === within || file.startsWith(`${within}/`);
};

/** Without what can be written in more than one way. */
export const normalScope = (scope: string): string => scope.replace(/^\.(?:\/|$)/, "").replace(/\/+$/, "");
