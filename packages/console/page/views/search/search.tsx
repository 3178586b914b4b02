import { useState } from "preact/hooks";
import { useLoad, usePage, useProcess } from "../../data/context.ts";
import type { SearchAnswer, SearchHit } from "../../data/tool-data.ts";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ProcessPicker } from "../../parts/process-picker.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { linesOf, SourcePreview } from "../../parts/source-preview.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { useKeys } from "../../shell/use-keys.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toPath } from "../../text/format.ts";
import "./search.css";

const MODALITIES = [
  ["auto", "Auto"],
  ["text", "Words"],
  ["vector", "Meaning"],
  ["symbol", "Names"],
  ["ast", "Structure"],
  ["file", "Paths"],
  ["memory", "Memory"],
] as const;

const LIMIT = 30;

/** The search engine, with a preview of each result and why it was found. */
export function SearchView() {
  const { store, router } = usePage();
  const process = useProcess("search");
  const { query } = router.route.value;
  const [typed, setTyped] = useState(query["q"] ?? "");
  const modality = query["modality"] ?? "auto";
  const asked = query["q"];
  const submit = () => router.filter({ q: typed, hit: undefined });
  const { data, error, reload } = useLoad(
    asked && process ? `${process.id} ${asked} ${modality}` : undefined,
    (signal) =>
      store.api.data<SearchAnswer>(
        process?.id ?? "",
        "search.query",
        { query: asked, modality, limit: LIMIT },
        signal,
      ),
  );
  const hits = data?.hits ?? [];
  const chosen = Math.min(Number(query["hit"] ?? 0), Math.max(0, hits.length - 1));
  const move = (by: number) =>
    router.filter({ hit: String(Math.max(0, Math.min(hits.length - 1, chosen + by))) });
  useKeys({
    j: { help: "Next result", run: () => move(1) },
    k: { help: "Previous result", run: () => move(-1) },
  });
  const hit = hits[chosen];
  return (
    <>
      <ViewHead title="Search" detail={data ? counted(hits.length, "result") : undefined}>
        <SearchField
          label="Search the project"
          placeholder="Where are tokens checked?"
          value={typed}
          onInput={setTyped}
          onEnter={submit}
        />
        <select
          class="select"
          aria-label="Search by"
          value={modality}
          onChange={({ currentTarget }) => router.filter({ modality: currentTarget.value })}
        >
          {MODALITIES.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <ProcessPicker tool="search" />
        <button type="button" class="button primary" disabled={typed === ""} onClick={submit}>
          Search
        </button>
      </ViewHead>
      {!asked && (
        <Empty
          icon="search"
          title="Search the project"
          command="octant call search.query query='where are tokens checked?'"
        >
          Ask a question, or type a name, a pattern or a path. Several searches run at once and are fused into
          one list.
        </Empty>
      )}
      {asked && error !== undefined && <Problem error={error} retry={reload} />}
      {asked && !data && error === undefined && <Loading label="Searching" />}
      {asked && data && (
        <div class="view-body split-wide">
          <div class="hits">
            <IndexNote answer={data} />
            {hits.length === 0 && (
              <Empty icon="search" title="Nothing found">
                Try other words, or another way to search.
              </Empty>
            )}
            <ol class="plain-list">
              {hits.map((one, index) => (
                <HitRow
                  key={index}
                  hit={one}
                  roots={process?.roots ?? []}
                  isChosen={index === chosen}
                  onChoose={() => router.filter({ hit: String(index) })}
                />
              ))}
            </ol>
          </div>
          {hit && process && (
            <div class="preview">
              <SourcePreview
                key={`${hit.uri}${hit.range?.start.line}`}
                process={process.id}
                uri={hit.uri}
                roots={process.roots}
                marked={linesOf(hit.range)}
                around={40}
              />
            </div>
          )}
        </div>
      )}
    </>
  );
}

function IndexNote({
  answer: { index, indexed_files, total_files, unmet },
}: {
  readonly answer: SearchAnswer;
}) {
  return (
    <>
      {index !== "fresh" && (
        <p class="calm hits-note">
          <Foreign
            text={`The index is ${index === "indexing" ? "being built" : index}: ${indexed_files} of ${total_files ?? "?"} files. By meaning, only the most likely files were searched.`}
          />
        </p>
      )}
      {unmet && (
        <p class="calm hits-note">
          <Foreign text={unmet} />
        </p>
      )}
    </>
  );
}

interface HitProps {
  readonly hit: SearchHit;
  readonly roots: readonly string[];
  readonly isChosen: boolean;
  onChoose(): void;
}

function HitRow({ hit, roots, isChosen, onChoose }: HitProps) {
  return (
    <li>
      <button type="button" class="hit" aria-current={isChosen ? "true" : undefined} onClick={onChoose}>
        <span class="hit-place">
          <Foreign
            text={`${toPath(hit.uri, roots)}${hit.range ? `:${hit.range.start.line + 1}` : ""}`}
            oneLine
          />
        </span>
        <span class="hit-snippet">
          <Foreign text={hit.snippet} />
        </span>
        <span class="hit-why">
          {hit.symbol_id && (
            <Badge>
              <Foreign text={hit.symbol_id.split("#").at(-1) ?? ""} oneLine />
            </Badge>
          )}
          {hit.why.map(({ strategy, rank }) => (
            <Badge key={strategy} tone="accent">
              {strategy} #{rank}
            </Badge>
          ))}
        </span>
      </button>
    </li>
  );
}
