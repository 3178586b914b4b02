import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** In the bundled command, our own packages are no modules of their own but have these entries. */
const BUNDLED = import.meta.url.includes("/provide-imports.")
  ? {}
  : { "@octant/core": "./pack-core-entry.js", "@octant/wire": "./pack-wire-entry.js" };
const ENTRIES = new Map(Object.entries(BUNDLED));
const PROVIDED = /^(@octant\/core|@octant\/wire|zod(\/.*)?)$/;

/**
 * Lets the modules of a folder import `@octant/core`, `@octant/wire` and `zod` without an installation of their own. A
 * second copy of the core would not know our errors and argument kinds.
 */
export function provideImports(folder: string): Disposable {
  const own = `${pathToFileURL(folder).href}/`;
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      context.parentURL?.startsWith(own) && PROVIDED.test(specifier)
        ? next(ENTRIES.get(specifier) ?? specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}
