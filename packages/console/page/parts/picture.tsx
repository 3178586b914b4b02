const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

/** A screenshot or another picture of an answer. Formats that can hold scripts are not shown. */
export function Picture({ mime, base64 }: { readonly mime: string; readonly base64: string }) {
  if (!SHOWN.test(mime)) return null;
  return <img class="picture" src={`data:${mime};base64,${base64}`} alt="Attached to the answer" />;
}
