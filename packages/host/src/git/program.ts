import { ToolError } from "@octant/core";

export const programMissing = (name: string) =>
  new ToolError(
    "UNSUPPORTED",
    `${name} is not on the PATH (folders of the workspace and node_modules do not count); install it`,
    { what: name, how: `install ${name}` },
  );
