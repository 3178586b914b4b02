import { registerHooks } from "node:module";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";

const entry = (name: string) => new URL(`./${name}-entry${extname(import.meta.url)}`, import.meta.url).href;

/**
 * Lets the modules of a folder import `@octant/core`, `@octant/wire` and `zod` without an installation of their own. A
 * second copy of the core would not know our errors and argument kinds.
 */
export function provideImports(folder: string): Disposable {
  const own = `${pathToFileURL(folder).href}/`;
  const provided = new Map([
    ["@octant/core", entry("pack-core")],
    ["@octant/wire", entry("pack-wire")],
  ]);
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!context.parentURL?.startsWith(own)) return next(specifier, context);
      const url = provided.get(specifier);
      if (url !== undefined) return next(url, context);
      const isZod = specifier === "zod" || specifier.startsWith("zod/");
      return next(specifier, isZod ? { ...context, parentURL: import.meta.url } : context);
    },
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}
