export function Loading({ label = "Loading" }: { readonly label?: string }) {
  return (
    <div class="loading" role="status" aria-label={label}>
      <span />
      <span />
      <span />
    </div>
  );
}
