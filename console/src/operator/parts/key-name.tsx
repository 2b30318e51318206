import { TwoLines } from '../../parts/lists/columns.tsx'

/** The name of a key and the beginning of its secret. */
export function KeyName({
  of: { name, hint },
}: {
  readonly of: { readonly name: string; readonly hint: string }
}) {
  return <TwoLines first={name} title={name} second={<code>{hint}…</code>} />
}
