import type { Ecosystem } from "../detect/ecosystem.ts";
import { linesOf } from "../formats/lines.ts";
import { readYamlText } from "../formats/yaml.ts";

export const dart: Ecosystem = {
  name: "dart",
  markers: ["pubspec.yaml"],
  inspect(folder) {
    const pubspec = folder.text("pubspec.yaml");
    const isFlutter = linesOf(pubspec).some((line) => line.trim() === "sdk: flutter");
    const program = isFlutter ? "flutter" : "dart";
    return {
      name: readYamlText(pubspec, "name"),
      managers: [{ name: "pub", from: "pubspec.yaml" }],
      build: [{ name: "install", command: [program, "pub", "get"] }],
      test: [{ runner: `${program} test`, command: [program, "test"] }],
      frameworks: isFlutter ? ["flutter"] : [],
      entryPoints: ["lib/main.dart"].filter(folder.hasFile).map((path) => ({ path, kind: "main" })),
    };
  },
};
