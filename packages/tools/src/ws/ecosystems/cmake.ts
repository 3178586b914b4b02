import { type Ecosystem, entryPointsAt, toCommands } from "../detect/ecosystem.ts";
import { capturesIn, linesOf } from "../formats/lines.ts";

export const cmake: Ecosystem = {
  name: "cmake",
  markers: ["CMakeLists.txt"],
  spansSubfolders: true,
  inspect(folder) {
    const text = folder.text("CMakeLists.txt");
    const hasTests = linesOf(text).some((line) =>
      /^\s*(enable_testing|add_test|include\s?\(\s?CTest)\b/i.test(line),
    );
    const sources = capturesIn(
      text,
      /^add_executable\s?\(\s?[\w.-]+\s+(?:WIN32\s|MACOSX_BUNDLE\s)?([\w./-]+\.\w+)/i,
    );
    const conan = folder.first("conanfile.txt", "conanfile.py");
    return {
      name: capturesIn(text, /^project\s?\(\s?["']?([\w.+-]+)/i)[0],
      managers: {
        ...(conan !== undefined && { conan }),
        ...(folder.names.has("vcpkg.json") && { vcpkg: "vcpkg.json" }),
      },
      build: toCommands({ configure: "cmake -S . -B build", build: "cmake --build build" }),
      test: toCommands({ ctest: hasTests && "ctest --test-dir build --output-on-failure" }),
      entryPoints: entryPointsAt("main", sources),
    };
  },
};
