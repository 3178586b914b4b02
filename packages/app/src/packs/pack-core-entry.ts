// The module that packs get for `@octant/core`: the one that this process uses.
export * from "@octant/core";
