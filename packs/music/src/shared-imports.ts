import { registerHooks } from "node:module";

/** Modules that Octant provides to the process of a pack; its threads and programs have to be told where they are. */
const SHARED = ["@octant/core", "@octant/wire", "zod"];

export type SharedImports = Readonly<Record<string, string>>;

/** Where this process finds them. */
export const sharedImports = (): SharedImports =>
  // Tests transform modules, and then this function is missing; there the usual places are right.
  typeof import.meta.resolve === "function"
    ? Object.fromEntries(SHARED.map((name) => [name, import.meta.resolve(name)]))
    : {};

/** Finds them there from now on; to be called before any module that needs one is imported. */
export function takeSharedImports(places: SharedImports): void {
  registerHooks({ resolve: (name, context, next) => next(places[name] ?? name, context) });
}
