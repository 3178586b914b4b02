import type { Language } from "../language.ts";

export const json: Language = {
  id: "json",
  extensions: [".json", ".jsonc", ".json5"],
  grammar: "tree-sitter-json/tree-sitter-json.wasm",
  symbols: `
    (document (object (pair key: (string (string_content) @name)) @key))
    (document (object (pair value: (object (pair key: (string (string_content) @name)) @key))))
  `,
};

export const yaml: Language = {
  id: "yaml",
  extensions: [".yaml", ".yml"],
  grammar: "@tree-sitter-grammars/tree-sitter-yaml/tree-sitter-yaml.wasm",
  symbols: `(block_mapping_pair key: (flow_node) @name) @key`,
};

export const css: Language = {
  id: "css",
  extensions: [".css"],
  grammar: "tree-sitter-css/tree-sitter-css.wasm",
  symbols: `
    (rule_set (selectors) @name) @selector
    (keyframes_statement (keyframes_name) @name) @selector
    (media_statement . (_) @name) @selector
  `,
};

export const html: Language = {
  id: "html",
  extensions: [".html", ".htm"],
  grammar: "tree-sitter-html/tree-sitter-html.wasm",
  symbols: `
    ((element (start_tag (tag_name) @tag) (text) @name) @heading (#match? @tag "^[hH][1-6]$"))
    ((element (start_tag (attribute (attribute_name) @attribute (quoted_attribute_value (attribute_value) @name)))) @element (#eq? @attribute "id"))
  `,
};
