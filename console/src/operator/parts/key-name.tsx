import table from '../../parts/lists/table.module.css'

/** What somebody's key is called, and how it begins. */
export function KeyName({
  of: { name, hint },
}: {
  readonly of: { readonly name: string; readonly hint: string }
}) {
  return (
    <>
      <span className={table.first} title={name}>
        {name}
      </span>
      <span className={table.second}>
        <code>{hint}…</code>
      </span>
    </>
  )
}
