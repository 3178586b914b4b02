import { action, ToolError } from "@octant/core";
import { openInBrowser } from "@octant/host";
import { z } from "zod";
import { VERIFY } from "../kinds.ts";
import { Url } from "./inputs.ts";
import type { NetOptions } from "./options.ts";

export const open = ({ network, env, isRemote, findOpener }: NetOptions) =>
  action({
    summary: "Open a page in the user's browser.",
    ...VERIFY,
    openWorld: true,
    input: z.strictObject({ url: Url }),
    output: z.object({ url: z.string(), program: z.string() }),
    errors: ["NET_BLOCKED", "UNSUPPORTED", "EXEC_FAILED"],
    examples: [
      {
        title: "Without a desktop",
        input: { url: "http://localhost:3000/" },
        fails: "UNSUPPORTED",
      },
    ],
    async run({ url }, ctx) {
      if (isRemote(ctx.caller)) throw noDesktop();
      const checked = network.checkUrl(url, false);
      return { url: checked.href, program: await openInBrowser(checked, env, ctx.signal, findOpener) };
    },
  });

const noDesktop = () =>
  new ToolError(
    "UNSUPPORTED",
    "the browser would open on the server's machine; show the person the URL instead",
    {
      what: "opening a browser for a remote caller",
      how: "call it from the machine that the person sits at",
    },
  );
