import { Foreign } from "../text/foreign.tsx";
import { parseMarkdown } from "./parse.ts";
import { type Block, type Inline, textOf } from "./tree.ts";
import "./markdown.css";

/** Text of a model with its styles: every element is one of ours, and nothing is loaded from elsewhere. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div class="markdown">
      {parseMarkdown(text).map((block) => (
        <BlockView block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { readonly block: Block }) {
  switch (block.type) {
    case "heading":
      // The page has its own headings above the transcript.
      return (
        <p
          class={`markdown-heading level-${block.level}`}
          role="heading"
          aria-level={Math.min(6, block.level + 2)}
        >
          <Inlines content={block.content} />
        </p>
      );
    case "paragraph":
      return (
        <p>
          <Inlines content={block.content} />
        </p>
      );
    case "code":
      return (
        <pre
          class="code"
          tabIndex={0}
          role="region"
          aria-label={block.language ? `Code, ${block.language}` : "Code"}
        >
          <Foreign text={block.text} />
        </pre>
      );
    case "quote":
      return (
        <blockquote>
          {block.blocks.map((inner) => (
            <BlockView block={inner} />
          ))}
        </blockquote>
      );
    case "list":
      return <ListView block={block} />;
    case "table":
      return <TableView block={block} />;
    case "rule":
      return <hr />;
  }
}

function ListView({ block }: { readonly block: Extract<Block, { type: "list" }> }) {
  const items = block.items.map(({ checked, blocks }) => (
    <li class={checked === undefined ? undefined : "task"}>
      {checked !== undefined && (
        <input type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "open"} />
      )}
      {blocks.map((inner) => (
        <BlockView block={inner} />
      ))}
    </li>
  ));
  return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
}

function TableView({ block }: { readonly block: Extract<Block, { type: "table" }> }) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {block.head.map((cell) => (
              <th>
                <Inlines content={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>
                  <Inlines content={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ content }: { readonly content: readonly Inline[] }) {
  return (
    <>
      {content.map((node) => (
        <InlineView node={node} />
      ))}
    </>
  );
}

function InlineView({ node }: { readonly node: Inline }) {
  switch (node.type) {
    case "text":
      return <Foreign text={node.text} />;
    case "code":
      return (
        <code>
          <Foreign text={node.text} />
        </code>
      );
    case "break":
      return <br />;
    case "strong":
      return (
        <strong>
          <Inlines content={node.content} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Inlines content={node.content} />
        </em>
      );
    case "strike":
      return (
        <s>
          <Inlines content={node.content} />
        </s>
      );
    case "link":
      return (
        <>
          <a href={node.href} target="_blank" rel="noopener noreferrer">
            <Inlines content={node.content} />
          </a>
          {!textOf(node.content).includes(node.host) && <span class="link-host"> ({node.host})</span>}
        </>
      );
  }
}
