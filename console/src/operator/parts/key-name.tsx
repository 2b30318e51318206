import { TwoLines } from '../../parts/lists/columns.tsx'

/** What somebody's key is called, and how it begins. */
export function KeyName({
  of: { name, hint },
}: {
  readonly of: { readonly name: string; readonly hint: string }
}) {
  return <TwoLines first={name} title={name} second={<code>{hint}…</code>} />
}
