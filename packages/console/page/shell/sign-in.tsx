import { useState } from "preact/hooks";
import { usePage } from "../data/context.ts";
import { Command } from "../parts/parts.tsx";

/** The page without a cookie: a new link, or a token. */
export function SignIn() {
  const { store } = usePage();
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await store.signIn(token).catch(store.fail);
    setBusy(false);
  };
  return (
    <main class="sign-in" id="main">
      <h1>Sign in to Octant</h1>
      <p>
        Links to the console work once, and this browser is not signed in. Open a new link from a terminal:
      </p>
      <Command text="octant console" />
      <form onSubmit={submit}>
        <label for="token">Or use a token of this server</label>
        <div class="sign-in-row">
          <input
            id="token"
            class="input"
            type="password"
            autocomplete="current-password"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={token === "" || busy}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}
