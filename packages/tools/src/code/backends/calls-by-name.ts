import type { Range } from "@octant/core";
import type { Path, SourceCall, SourceText, Spot } from "@octant/host";
import { parseMany } from "../parse-many.ts";
import { holds, type Sources } from "../sources.ts";

type Defined = readonly { readonly file: Path; readonly name: string; readonly nameRange: Range }[];

/** The functions that call something with this name. */
export async function findCallers(
  sources: Sources,
  name: string,
  files: readonly Path[],
  signal: AbortSignal,
): Promise<SourceCall[]> {
  const callersIn = async (source: SourceText): Promise<SourceCall[]> => {
    const { path } = source;
    const calls = await sources.calls(source, name);
    const symbols = await sources.symbols(path, source);
    return [...Map.groupBy(calls, ({ within }) => within?.path)].flatMap(([caller, inside]): SourceCall[] => {
      const symbol = symbols.find((one) => one.path === caller);
      if (!symbol) return [];
      const at = inside.map(({ range }) => ({ path, range }));
      return [{ name: symbol.name, path, range: symbol.nameRange, at }];
    });
  };
  return (await parseMany(sources, files, signal, callersIn, () => undefined)).flat();
}

/** The functions called by the function at a position, if they are defined in the project. */
export async function findCallees(
  sources: Sources,
  { path, position }: Spot,
  define: (call: Spot) => Promise<Defined>,
): Promise<SourceCall[]> {
  const self = await sources.enclosing(path, position);
  if (!self) return [];
  const inside = (await sources.calls(sources.read(path))).filter(({ range }) =>
    holds(self.range, range.start),
  );
  const found = await Promise.all(
    [...Map.groupBy(inside, ({ name }) => name).values()].map(async (calls): Promise<SourceCall[]> => {
      const [target] = await define({ path, position: calls[0]!.range.start });
      if (!target) return [];
      const at = calls.map(({ range }) => ({ path, range }));
      return [{ name: target.name, path: target.file, range: target.nameRange, at }];
    }),
  );
  return found.flat();
}
