/** The launcher in an install of the command. */
export const IN_INSTALL = "node_modules/@octant/cli/bin/octant.js";

/** The install of a build that has the dependencies of the command in its folder; the build itself links to them. */
export const CONTAINED = "contained";
