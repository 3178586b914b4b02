import type { Ecosystem } from "../detect/ecosystem.ts";
import { capturesIn, linesOf } from "../formats/lines.ts";

const BUILD_FOLDER = "build";

const MANAGERS = [
  { name: "conan", files: ["conanfile.txt", "conanfile.py"] },
  { name: "vcpkg", files: ["vcpkg.json"] },
];

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
    return {
      name: capturesIn(text, /^project\s?\(\s?["']?([\w.+-]+)/i)[0],
      managers: MANAGERS.flatMap(({ name, files }) => {
        const from = folder.first(...files);
        return from === undefined ? [] : [{ name, from }];
      }),
      build: [
        { name: "configure", command: ["cmake", "-S", ".", "-B", BUILD_FOLDER] },
        { name: "build", command: ["cmake", "--build", BUILD_FOLDER] },
      ],
      test: hasTests
        ? [{ runner: "ctest", command: ["ctest", "--test-dir", BUILD_FOLDER, "--output-on-failure"] }]
        : [],
      entryPoints: sources.map((path) => ({ path, kind: "main" })),
    };
  },
};
