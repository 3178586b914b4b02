import type { Ecosystem } from "../detect/ecosystem.ts";
import { cargo } from "./cargo.ts";
import { cmake } from "./cmake.ts";
import { dart } from "./dart.ts";
import { deno } from "./deno.ts";
import { dotnet } from "./dotnet.ts";
import { go } from "./go.ts";
import { gradle, maven } from "./jvm.ts";
import { node } from "./node.ts";
import { php } from "./php.ts";
import { plain } from "./plain.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { tasks } from "./tasks.ts";

/** All ecosystems that ws.detect recognises. When a folder belongs to several, the first one names the package. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  node,
  deno,
  python,
  go,
  cargo,
  maven,
  gradle,
  dotnet,
  ruby,
  php,
  cmake,
  dart,
  ...plain,
  tasks,
];
