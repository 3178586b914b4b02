import type { SymbolId } from "@octant/core";
import { type Confinement, encodePath, type Path } from "@octant/host";

type Places = Pick<Confinement, "roots" | "toPath">;

/** `sym:src/a.ts#Outer.inner`: the path is relative to the first root where possible. */
export function toSymbolId({ roots }: Places, path: Path, symbol: string): SymbolId {
  const prefix = roots[0] === "/" ? "/" : `${roots[0]}/`;
  const name = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  return `sym:${encodePath(name)}#${symbol}`;
}

/** OUTSIDE_WORKSPACE when the path points outside. */
export function parseSymbolId(confinement: Places, id: SymbolId): { path: Path; symbol: string } {
  const cut = id.indexOf("#");
  const name = id.slice("sym:".length, cut);
  const root = encodePath(confinement.roots[0] ?? "/");
  const path = confinement.toPath(`file://${name.startsWith("/") ? name : `${root}/${name}`}`);
  return { path, symbol: id.slice(cut + 1) };
}
