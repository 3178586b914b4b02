import { Failed } from "../data/api.ts";
import { Foreign } from "../text/foreign.tsx";

/** What went wrong, in the words of the server, and a way to try again. */
export function Problem({ error, retry }: { readonly error: unknown; retry?(): void }) {
  const { code, message } = error instanceof Failed ? error : { code: "ERROR", message: String(error) };
  return (
    <div class="problem" role="alert">
      <strong>{code}</strong>
      <p>
        <Foreign text={message} />
      </p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
