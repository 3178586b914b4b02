// The module that packs get for `@octant/wire`: the one that this process uses.
export * from "@octant/wire";
