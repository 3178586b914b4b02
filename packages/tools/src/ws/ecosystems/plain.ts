import { type Ecosystem, toCommands } from "../detect/ecosystem.ts";

const TABLE: readonly { name: string; marker: string; manager: string; build: string; test: string }[] = [
  { name: "elixir", marker: "mix.exs", manager: "mix", build: "mix compile", test: "mix test" },
  { name: "swift", marker: "Package.swift", manager: "swiftpm", build: "swift build", test: "swift test" },
  { name: "zig", marker: "build.zig", manager: "zig", build: "zig build", test: "zig build test" },
  { name: "scala", marker: "build.sbt", manager: "sbt", build: "sbt compile", test: "sbt test" },
  { name: "haskell", marker: "stack.yaml", manager: "stack", build: "stack build", test: "stack test" },
  {
    name: "bazel",
    marker: "MODULE.bazel",
    manager: "bazel",
    build: "bazel build //...",
    test: "bazel test //...",
  },
];

/** Ecosystems that need nothing beyond their marker. */
export const plain: readonly Ecosystem[] = TABLE.map(({ name, marker, manager, build, test }) => ({
  name,
  markers: [marker],
  inspect: () => ({
    managers: { [manager]: marker },
    build: toCommands({ build }),
    test: toCommands({ [`${test.split(" ", 1)[0]} test`]: test }),
  }),
}));
