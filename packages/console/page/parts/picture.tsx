import { useEffect, useRef, useState } from "preact/hooks";
import "./picture.css";

const SHOWN = /^image\/(png|jpeg|gif|webp)$/;

/**
 * A screenshot or another picture of an answer. Formats that can hold scripts are not shown. It is drawn on a canvas, so
 * that the content security policy needs no exception for addresses with data.
 */
export function Picture({ mime, base64 }: { readonly mime: string; readonly base64: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: mime }));
      if (isGone || !canvas.current) return;
      canvas.current.width = bitmap.width;
      canvas.current.height = bitmap.height;
      canvas.current.getContext("2d")?.drawImage(bitmap, 0, 0);
      bitmap.close();
    };
    if (SHOWN.test(mime)) draw().catch(() => !isGone && setBroken(true));
    return () => {
      isGone = true;
    };
  }, [mime, base64]);
  if (!SHOWN.test(mime)) return null;
  if (isBroken) return <p class="calm">The attached picture cannot be read.</p>;
  return (
    <canvas
      ref={canvas}
      class="picture"
      role="img"
      aria-label="Attached to the answer"
      width="0"
      height="0"
    />
  );
}
