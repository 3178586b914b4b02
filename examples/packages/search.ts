import { createGrammars, findSymbols, languageOf } from "@octant/search";

const language = languageOf("area.py");
if (!language) throw new Error("Python is missing");
const source = "class Shape:\n    def area(self):\n        return 0\n";
for (const { kind, name } of await findSymbols(createGrammars(), language, source)) console.log(kind, name);
